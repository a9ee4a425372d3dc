// The map page: what is chosen is read, drawn, and kept in the address.
import { Contours } from "./layers/contours.js";
import { Meteogram, placeText } from "./forecast/meteogram.js";
import { Catalogue, runText, runTime } from "./page/catalogue.js";
import { Choices } from "./page/choices.js";
import { drawable, Fields, firstVariable, titleOf } from "./page/fields.js";
import { Gestures } from "./page/gestures.js";
import { Player } from "./page/player.js";
import { getJson } from "./page/request.js";
import { readState, writeState } from "./page/view_state.js";
import { drawLegend } from "./scale/legend.js";
import { valueText } from "./scale/numbers.js";
import { exact } from "./tile/float32.js";
import { TileReader } from "./tile_reader.js";
import { Camera } from "./view/camera.js";
import { Coastlines } from "./view/coastlines.js";
import { Panel } from "./view/panel.js";
import { NativePlane, WebMercatorPlane } from "./view/planes.js";

const REFRESH_MS = 60_000;
const byId = (id) => document.getElementById(id);

class MapPage {
  state = readState(location.search);
  catalogue = new Catalogue();
  camera = new Camera();
  coastlines = new Coastlines();
  meteogram = new Meteogram(byId("forecast"));
  panels = [];
  turn = 0;
  plane = null;
  crosshair = null;

  async begin() {
    const colours = await getJson("/console/map/colours");
    this.fields = new Fields(new TileReader(), this.catalogue, colours);
    this.choices = new Choices(byId("choices"), (name, value) => this.choose(name, value));
    this.player = new Player(
      { slider: byId("hour"), label: byId("hour-label"), play: byId("play"), back: byId("back"), forward: byId("forward") },
      { show: (minutes) => this.showHour(minutes), ahead: (minutes) => this.readAhead(minutes), base: () => runTime(this.state.run) },
    );
    const webgl = document.documentElement.dataset.webgl !== "off";
    for (const element of document.querySelectorAll(".map-panel")) this.panels.push(this.#panel(element, webgl));
    new ResizeObserver(() => this.resized()).observe(byId("maps"));
    byId("forecast").addEventListener("closed", () => this.closeForecast());
    window.addEventListener("popstate", () => this.restore());
    setInterval(() => this.refresh(), REFRESH_MS);
    await this.catalogue.load();
    await this.restore();
  }

  #panel(element, webgl) {
    const panel = new Panel(element, { webgl });
    new Gestures(element, this.camera, {
      moved: () => this.moved(),
      pointed: (left, top) => this.pointed(left === null ? null : [left, top]),
      clicked: (left, top) => this.clicked(left, top),
      keyed: () => this.pointed([this.camera.width / 2, this.camera.height / 2], true),
      reset: () => this.fit(),
    });
    return panel;
  }

  // What the address says, completed with what there is.
  async restore() {
    this.state = readState(location.search);
    this.plane = null;
    await this.load({ restoring: true });
    if (this.state.point) this.forecastAt(...this.state.point);
  }

  async choose(name, value) {
    this.state[name] = value;
    if (["plane", "region"].includes(name)) this.state.at = null;
    if (["model", "run"].includes(name)) this.player.stop();
    if (name === "model") this.state.run = "";
    await this.load();
    if (this.state.point && ["model", "run", "region", "units", "variable"].includes(name)) this.forecastAt(...this.state.point);
  }

  // Choices that do not exist are replaced by ones that do.
  #settle() {
    const { state, catalogue } = this;
    if (!catalogue.models.includes(state.model)) state.model = catalogue.models[0] ?? "";
    const runs = catalogue.runs(state.model);
    if (!runs.includes(state.run)) state.run = runs.find((run) => catalogue.regions(state.model, run).includes(state.region)) ?? runs[0] ?? "";
    const regions = catalogue.regions(state.model, state.run);
    if (!regions.includes(state.region)) [state.region, state.at] = [regions[0] ?? "", null];
    const others = catalogue.models.filter((one) => one !== state.model);
    if (!others.includes(state.other)) state.other = others[0] ?? "";
    if (!state.other) state.compare = "none";
  }

  async load({ restoring = false } = {}) {
    const turn = ++this.turn;
    this.#settle();
    byId("empty").hidden = this.catalogue.models.length > 0;
    byId("map-view").hidden = !this.catalogue.models.length;
    if (!this.catalogue.models.length) return;
    byId("maps").setAttribute("aria-busy", "true");
    try {
      const hours = await this.catalogue.hours(this.state.model, this.state.run, this.state.region);
      if (turn !== this.turn) return;
      this.player.setHours(hours.map((one) => one.minutes), this.state.minutes);
      this.state.minutes = this.player.minutes;
      const content = await this.#content();
      if (turn === this.turn) this.#show(content, restoring);
    } catch (error) {
      if (turn === this.turn) this.#fail(error);
    } finally {
      if (turn === this.turn) byId("maps").setAttribute("aria-busy", "false");
    }
  }

  async #content() {
    const { state, fields } = this;
    const tile = await fields.tile(state, state.minutes);
    const variables = drawable(tile.meta);
    if (!variables.some(({ name }) => name === state.variable)) state.variable = firstVariable(tile.meta);
    const plane = state.plane === "web" ? new WebMercatorPlane(tile.grid) : new NativePlane(tile.grid);
    const valid = runTime(state.run) + state.minutes * 60_000;
    const other = state.compare === "none" ? null : await fields.sameTime(state.other, state.region, valid);
    const tiles = state.compare === "side" ? [tile, other] : [tile];
    const difference = state.compare === "difference";
    const [found, coast] = await Promise.all([
      difference ? [await fields.difference(tile, other, state.variable, state)] : fields.fields(tiles, state.variable, state),
      this.coastlines.on(plane, tile.grid),
    ]);
    const layers = await Promise.all(found.map((field, n) => this.#layer(tiles[n], field, plane, coast)));
    return { tile, other, variables, plane, layers };
  }

  async #layer(tile, field, plane, coast) {
    const { state, fields } = this;
    const wind = state.wind === "none" ? null : await fields.wind(tile, state.variable);
    const lines = state.isobars ? await fields.isobars(tile) : null;
    const contours = lines && new Contours(lines, tile.grid, plane);
    return { tile, ...field, field: field.values, grid: tile.grid, plane, coast, wind, windStyle: state.wind, contours };
  }

  #show({ tile, other, variables, plane, layers }, restoring) {
    this.choices.show(this.state, this.catalogue, variables);
    byId("problem").hidden = true;
    this.panels[1].element.hidden = layers.length < 2;
    this.layers = layers;
    this.camera.resize(...this.#size());
    if (this.plane?.key !== plane.key) this.#look(plane, restoring);
    layers.forEach((layer, n) => this.panels[n].show(layer));
    this.panels.slice(layers.length).forEach((panel) => panel.clear());
    this.#describe(tile, other, layers);
    this.draw();
    this.#remember();
    document.documentElement.dataset.map = "ready";
    this.pointed(this.pointer ?? null);
  }

  // A plane that is new is seen whole, or where the address says.
  #look(plane, restoring) {
    this.plane = plane;
    this.camera.fit(plane.bounds(), plane.turn);
    const { at } = this.state;
    if (!at) return;
    const [x, y] = plane.project(at[0], at[1]);
    if (!Number.isFinite(x + y)) return;
    Object.assign(this.camera, { x, y });
    if (restoring || at) this.camera.zoom(at[2] / this.camera.scale);
  }

  #describe(tile, other, layers) {
    const { state } = this;
    const names = layers.map((layer) => `${layer.tile.meta.model.toUpperCase()} ${runText(layer.tile.meta.run)}`);
    if (state.compare === "difference") names[0] = `${names[0]} minus ${other.meta.model.toUpperCase()} ${runText(other.meta.run)}`;
    layers.forEach((layer, n) => {
      const title = titleOf(layer.tile.meta, state.variable);
      const figure = this.panels[n].element.closest("figure");
      figure.querySelector("figcaption").textContent = `${names[n]}: ${title}`;
      drawLegend(figure.querySelector(".map-legend"), layer.scale, title);
      this.panels[n].element.setAttribute("aria-label", `Map of ${title}, ${names[n]}, ${tile.meta.region.title || state.region}. Arrow keys move, plus and minus zoom, 0 shows all, Enter gives the forecast in the middle.`);
    });
    this.panels[1].element.closest("figure").hidden = layers.length < 2;
    byId("maps").classList.toggle("two", layers.length > 1);
    const credits = [...new Set([tile, other].filter(Boolean).map(({ meta }) => meta.attribution).filter(Boolean))];
    byId("credit").textContent = credits.join(" ");
    const notes = [];
    if (state.compare === "difference" && other.grid.key !== tile.grid.key) notes.push("The second model is taken at its nearest grid point.");
    if (state.wind !== "none" && !layers[0].wind) notes.push("This tile has no wind.");
    if (state.isobars && !layers[0].contours) notes.push("This tile has no pressure at sea level.");
    byId("note").textContent = notes.join(" ");
  }

  #fail(error) {
    byId("problem").textContent = error.message;
    byId("problem").hidden = false;
    this.choices.show(this.state, this.catalogue, this.layers ? drawable(this.layers[0].tile.meta) : []);
    this.panels.forEach((panel) => panel.clear());
    this.layers = null;
    this.plane = null;
    this.player.stop();
    this.#remember();
    document.documentElement.dataset.map = "failed";
  }

  #size() {
    const box = this.panels[0].element.getBoundingClientRect();
    return [Math.round(box.width), Math.round(box.height)];
  }

  draw() {
    this.panels.forEach((panel) => panel.draw(this.camera, this.crosshair));
  }

  async showHour(minutes) {
    this.state.minutes = minutes;
    await this.load();
  }

  readAhead(minutes) {
    const { model, run, region, variable } = this.state;
    this.catalogue.hours(model, run, region).then((hours) => {
      const hour = hours.find((one) => one.minutes === minutes);
      if (hour && variable) this.fields.prefetch(hour.url, [variable]);
    });
  }

  resized() {
    if (!this.layers) return;
    const before = this.camera.least;
    const whole = Math.abs(this.camera.scale - before) < 1e-9;
    this.camera.resize(...this.#size());
    const { x, y, scale } = this.camera;
    this.camera.fit(this.plane.bounds(), this.plane.turn);
    if (!whole) Object.assign(this.camera, { x, y, scale });
    this.draw();
  }

  fit() {
    this.camera.fit(this.plane.bounds(), this.plane.turn);
    this.state.at = null;
  }

  moved() {
    if (!this.layers) return;
    cancelAnimationFrame(this.drawing);
    this.drawing = requestAnimationFrame(() => this.draw());
    const [lat, lon] = this.plane.unproject(this.camera.x, this.camera.y);
    if (Number.isFinite(lat + lon)) this.state.at = this.camera.scale === this.camera.least ? null : [lat, lon, this.camera.scale];
    clearTimeout(this.remembering);
    this.remembering = setTimeout(() => this.#remember(), 250);
  }

  #remember() {
    const address = writeState(this.state);
    if (address !== location.search) history.replaceState(null, "", address);
  }

  // The cell of a layer under a place of the screen: its row, column, value and place on Earth.
  cellAt(layer, left, top) {
    const [x, y] = this.camera.toPlane(left, top);
    const straight = this.plane.grid?.key === layer.grid.key;
    const place = straight ? null : this.plane.unproject(x, y);
    const cell = straight ? layer.grid.cell(y, x / this.plane.aspect) : layer.grid.nearest(...place);
    if (!cell) return null;
    const [lat, lon] = layer.grid.latlon(...cell);
    return { row: cell[0], column: cell[1], lat, lon, value: layer.values[cell[0] * layer.grid.columns + cell[1]] };
  }

  pointed(place, keyed = false) {
    this.pointer = place;
    const output = byId("readout");
    output.setAttribute("aria-live", keyed ? "polite" : "off");
    if (keyed !== Boolean(this.crosshair)) {
      this.crosshair = keyed ? place : null;
      this.draw();
    }
    const cells = place && this.layers ? this.layers.map((layer) => [layer, this.cellAt(layer, ...place)]) : [];
    const found = cells.filter(([, cell]) => cell);
    if (!found.length) {
      output.textContent = "Point at the map for a value; click it for the forecast.";
      for (const name of Object.keys(output.dataset)) delete output.dataset[name];
      return;
    }
    output.textContent = found.map(([layer, cell]) => readout(layer, cell, this.layers.length > 1)).join(" · ");
    const [, first] = found[0];
    Object.assign(output.dataset, { value: exact(first.value), row: first.row, column: first.column });
  }

  clicked(left, top) {
    const cell = this.layers && this.cellAt(this.layers[0], left, top);
    const [lat, lon] = this.plane?.unproject(...this.camera.toPlane(left, top)) ?? [];
    if (cell && Number.isFinite(lat + lon)) this.forecastAt(lat, lon);
  }

  forecastAt(lat, lon) {
    const { model, run, region, units, variable, minutes } = this.state;
    this.state.point = [lat, lon];
    this.#remember();
    const title = this.layers ? titleOf(this.layers[0].tile.meta, variable) : variable;
    const members = this.catalogue.members(model, run, region);
    const marked = runTime(run) + minutes * 60_000;
    this.meteogram.show({ lat, lon, model, run, region, units, members, variable, title, marked });
  }

  closeForecast() {
    this.state.point = null;
    this.meteogram.hide();
    this.#remember();
    this.panels[0].element.focus();
  }

  // New runs and hours, as they arrive; the view stays.
  async refresh() {
    if (document.hidden || this.player.playing) return;
    try {
      await this.catalogue.load();
      await this.load();
    } catch {
      // What is shown stays; the next time may work.
    }
  }
}

function readout({ scale, about, tile }, { value, lat, lon, row, column }, named) {
  const where = `${placeText({ lat, lon })}, row ${row}, column ${column}`;
  const name = named ? `${tile.meta.model.toUpperCase()} ` : "";
  if (Number.isNaN(value)) return `${name}no value at ${where}`;
  if (scale.meanings.length) return `${name}${scale.meanings[scale.levels.filter((level) => value >= level).length]} (code ${exact(value)}) at ${where}`;
  const step = ((scale.high ?? scale.levels.at(-1)) - (scale.low ?? scale.levels[0])) * Math.abs(scale.factor) * 0.01;
  const native = scale.factor === 1 && scale.offset === 0 ? `exactly ${exact(value)}` : `${exact(value)} ${about.units}`;
  return `${name}${valueText(scale.toShown(value), step)} ${scale.units} (${native}) at ${where}`;
}

const page = new MapPage();
page.begin().catch((error) => {
  byId("problem").textContent = error.message;
  byId("problem").hidden = false;
});
