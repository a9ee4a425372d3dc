// The controls above the map: what can be chosen, and what is.
import { runText } from "./catalogue.js";

export class Choices {
  // `changed(name, value)` is called for each change by a person.
  constructor(form, changed) {
    this.form = form;
    form.addEventListener("submit", (event) => event.preventDefault());
    for (const control of form.elements) {
      control.addEventListener("change", () => changed(control.name, control.type === "checkbox" ? control.checked : control.value));
    }
  }

  // Options of a select as [value, text], keeping the element and its focus.
  options(name, rows, chosen) {
    const select = this.form.elements[name];
    const same = select.options.length === rows.length && rows.every(([value, text], n) => select.options[n].value === value && select.options[n].text === text);
    if (!same) select.replaceChildren(...rows.map(([value, text]) => new Option(text, value)));
    select.value = chosen;
    select.disabled = rows.length < 2;
  }

  show(state, catalogue, variables) {
    const named = (names) => names.map((name) => [name, name]);
    this.options("model", named(catalogue.models), state.model);
    this.options("run", catalogue.runs(state.model).map((run) => [run, runText(run)]), state.run);
    this.options("region", catalogue.regions(state.model, state.run).map((name) => [name, catalogue.regionTitle(name)]), state.region);
    this.options("variable", variables.map(({ name, title }) => [name, title]), state.variable);
    this.options("other", named(catalogue.models.filter((one) => one !== state.model)), state.other);
    for (const name of ["plane", "wind", "compare", "colours", "units"]) this.form.elements[name].value = state[name];
    this.form.elements.isobars.checked = state.isobars;
    this.form.elements.other.closest("label").hidden = state.compare === "none";
  }
}
