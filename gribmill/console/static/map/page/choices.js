// The controls above the map: the available and the current choices.
import { runText } from "./catalogue.js";
import { countOf, matching, modelGroups, variableGroups } from "./groups.js";

const FILTERED_FROM = 15;

export class Choices {
  #shown = new Map(); // options of each select, as text
  #variables = [];

  // `changed(name, value)` is called for each change by the user.
  constructor(form, changed) {
    this.form = form;
    this.changed = changed;
    form.addEventListener("submit", (event) => event.preventDefault());
    for (const control of form.elements) {
      if (control.name) control.addEventListener("change", () => changed(control.name, control.type === "checkbox" ? control.checked : control.value));
    }
    this.filter = document.getElementById("variable-filter");
    this.filter.addEventListener("input", () => this.#showVariables(form.elements.variable.value));
    this.filter.addEventListener("keydown", (event) => this.#keyInFilter(event));
  }

  // Sets the options of a select; the element keeps its focus.
  options(name, groups, chosen) {
    const select = this.form.elements[name];
    const text = JSON.stringify(groups);
    if (this.#shown.get(name) !== text) {
      this.#shown.set(name, text);
      select.replaceChildren(...groups.flatMap(([title, rows]) => (title ? [groupOf(title, rows)] : rows.map(optionOf))));
    }
    select.value = chosen;
    select.disabled = countOf(groups) < 2;
  }

  show(state, catalogue, variables) {
    const list = (rows) => [["", rows]];
    this.options("model", modelGroups(catalogue.models), state.model);
    this.options("run", list(catalogue.runs(state.model).map((run) => [run, runText(run)])), state.run);
    this.options("region", list(catalogue.regions(state.model, state.run).map((name) => [name, catalogue.regionTitle(name)])), state.region);
    this.options("other", modelGroups(catalogue.models.filter((one) => one !== state.model)), state.other);
    this.#variables = variableGroups(variables);
    this.filter.closest("label").hidden = variables.length < FILTERED_FROM && !this.filter.value;
    this.#showVariables(state.variable);
    for (const name of ["plane", "wind", "compare", "colours", "units"]) this.form.elements[name].value = state[name];
    this.form.elements.isobars.checked = state.isobars;
    this.form.elements.other.closest("label").hidden = state.compare === "none";
  }

  // The chosen variable is listed even if it does not match.
  #showVariables(chosen) {
    const found = countOf(matching(this.#variables, this.filter.value, null));
    this.options("variable", matching(this.#variables, this.filter.value, chosen), chosen);
    this.form.elements.variable.disabled = countOf(this.#variables) < 2;
    const all = countOf(this.#variables);
    document.getElementById("variable-count").textContent = !this.filter.value ? `${all}` : found ? `${found} of ${all}` : "none";
  }

  #keyInFilter(event) {
    const select = this.form.elements.variable;
    if (event.key === "ArrowDown") select.focus();
    else if (event.key === "Escape") this.filter.value = "";
    else if (event.key !== "Enter") return;
    event.preventDefault();
    const [first] = matching(this.#variables, this.filter.value, null).flatMap(([, rows]) => rows);
    if (event.key === "Enter" && first && this.filter.value) this.changed("variable", first[0]);
    else this.#showVariables(select.value);
  }
}

function optionOf([value, text]) {
  return new Option(text, value);
}

function groupOf(title, rows) {
  const group = document.createElement("optgroup");
  group.label = title;
  group.append(...rows.map(optionOf));
  return group;
}
