// The map page: reads and draws the current choice, and keeps it in the URL.
import { EventStream } from "../event_stream.js";
import { Meteogram } from "./forecast/meteogram.js";
import { Contours } from "./layers/contours.js";
import { creditsOf, describe, notesOf } from "./page/captions.js";
import { Catalogue, hourText, runText, runTime } from "./page/catalogue.js";
import { Choices } from "./page/choices.js";
import { drawable, Fields, firstVariable, titleOf } from "./page/fields.js";
import { Gestures } from "./page/gestures.js";
import { Player } from "./page/player.js";
import { Problem } from "./page/problem.js";
import { cellAt, showReadout } from "./page/readout.js";
import { getJson } from "./page/request.js";
import { readState, writeState } from "./page/view_state.js";
import { TileReader } from "./tile_reader.js";
import { Camera } from "./view/camera.js";
import { Coastlines } from "./view/coastlines.js";
import { cellOf } from "./view/mesh.js";
import { Panel } from "./view/panel.js";
import { NativePlane, WebMercatorPlane } from "./view/planes.js";

const REFRESH_MS = 60_000;
// Events after which runs and hours are listed again, with a delay because events often come in bursts.
const NEW_TILES = ["hour.cut", "run.completed"];
const NEW_TILES_MS = 2000;
const OFFLINE = "The server does not respond. The map shows what was loaded before.";
const byId = (id) => document.getElementById(id);

class MapPage {
  state = readState(location.search);
  catalogue = new Catalogue();
  camera = new Camera();
  coastlines = new Coastlines();
  meteogram = new Meteogram(byId("forecast"));
  figures = [...document.querySelectorAll("#maps figure")];
  panels = [];
  turn = 0;
  plane = null;
  layers = null;
  looksAnew = false; // whether to go to the position in the URL
  removed = "";
  listedAgain = false;

  async begin() {
    this.problem = new Problem(byId("problem"), () => this.refresh());
    this.choices = new Choices(byId("choices"), (name, value) => this.choose(name, value));
    this.player = new Player(
      { slider: byId("hour"), label: byId("hour-label"), play: byId("play"), back: byId("back"), forward: byId("forward") },
      { show: (minutes) => this.showHour(minutes), ahead: (minutes) => this.readAhead(minutes), base: () => runTime(this.state.run) },
    );
    const webgl = document.documentElement.dataset.webgl !== "off";
    for (const element of document.querySelectorAll(".map-panel")) this.panels.push(this.#panel(element, webgl));
    for (const [id, zoom] of [["zoom-in", 1.6], ["zoom-out", 1 / 1.6], ["zoom-all", null]]) {
      byId(id).addEventListener("click", () => this.#zoom(zoom));
    }
    new ResizeObserver(() => this.resized()).observe(byId("maps"));
    byId("forecast").addEventListener("closed", () => this.closeForecast());
    window.addEventListener("popstate", () => this.restore());
    window.addEventListener("online", () => this.refresh());
    setInterval(() => this.#refreshUnlessPlaying(), REFRESH_MS);
    new EventStream(NEW_TILES, () => {
      this.arriving ??= setTimeout(() => {
        this.arriving = null;
        this.#refreshUnlessPlaying();
      }, NEW_TILES_MS);
    });
    await this.#connect();
  }

  // Loads colours and the catalogue. `refresh` tries again if the server does not respond.
  async #connect() {
    const [colours] = await Promise.all([getJson("/console/map/colours"), this.catalogue.load()]);
    this.fields = new Fields(new TileReader(), this.catalogue, colours);
    await this.restore();
  }

  #panel(element, webgl) {
    new Gestures(element, this.camera, {
      moved: () => this.moved(),
      pointed: (left, top) => this.pointed(left === null ? null : [left, top]),
      clicked: (left, top) => this.clicked(left, top),
      keyed: () => this.pointed([this.camera.width / 2, this.camera.height / 2], true),
      reset: () => this.fit(),
      hour: (by) => this.player.step(by),
      unchosen: () => this.#note("Click the map, or hold Ctrl, to zoom with the wheel."),
    });
    return new Panel(element, { webgl });
  }

  // Shows what the URL says, with defaults for the rest.
  async restore() {
    this.state = readState(location.search);
    this.looksAnew = true;
    await this.load();
    if (this.state.point) this.forecastAt(...this.state.point);
    else this.#hideForecast();
  }

  async choose(name, value) {
    this.state[name] = value;
    if (["plane", "region"].includes(name)) this.state.at = null;
    if (["model", "run"].includes(name)) this.player.stop();
    if (name === "model") this.state.run = "";
    await this.load({ push: true });
    if (this.state.point && ["model", "run", "region", "units", "variable"].includes(name)) this.forecastAt(...this.state.point);
  }

  // Replaces choices that are not available.
  #settle() {
    const { state, catalogue } = this;
    if (!catalogue.models.includes(state.model)) state.model = catalogue.models[0] ?? "";
    const runs = catalogue.runs(state.model);
    if (!runs.includes(state.run)) state.run = runs.find((run) => catalogue.regions(state.model, run).includes(state.region)) ?? runs[0] ?? "";
    const regions = catalogue.regions(state.model, state.run);
    if (!regions.includes(state.region)) [state.region, state.at] = [regions[0] ?? "", null];
    const others = catalogue.models.filter((one) => one !== state.model);
    if (!others.includes(state.other)) state.other = others.find((one) => catalogue.runs(one).some((run) => catalogue.regions(one, run).includes(state.region))) ?? others[0] ?? "";
    if (!state.other) state.compare = "none";
  }

  // `push` adds an entry to the browser's history.
  async load({ push = false } = {}) {
    const turn = ++this.turn;
    this.#settle();
    byId("empty").hidden = this.catalogue.models.length > 0;
    byId("map-view").hidden = !this.catalogue.models.length;
    document.documentElement.dataset.map = "loading";
    if (!this.catalogue.models.length) return;
    byId("maps").setAttribute("aria-busy", "true");
    if (!this.layers) this.choices.show(this.state, this.catalogue, []);
    try {
      const hours = await this.catalogue.hours(this.state.model, this.state.run, this.state.region);
      if (turn !== this.turn) return;
      this.player.setHours(hours.map((one) => one.minutes), this.state.minutes);
      this.state.minutes = this.player.minutes;
      const content = await this.#content();
      if (turn === this.turn) this.#show(content, push);
    } catch (error) {
      if (turn === this.turn) await this.#fail(error, push);
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
    const tiles = state.compare === "side" && other ? [tile, other] : [tile];
    const difference = state.compare === "difference";
    const coast = this.coastlines.on(plane, tile.grid);
    const found = !difference ? await fields.fields(tiles, state.variable, state) : other ? [await fields.difference(tile, other, state.variable, state)] : [];
    const layers = await Promise.all(found.map((field, n) => this.#layer(tiles[n], n, field, plane, coast)));
    return { tile, other, variables, plane, layers };
  }

  async #layer(tile, n, field, plane, coast) {
    const { state, fields } = this;
    const painted = field.stored && this.panels[n].raster.picturesOf(plane, tile.grid);
    const [wind, lines, picture, lands] = await Promise.all([
      state.wind === "none" ? null : fields.wind(tile, state.variable),
      state.isobars ? fields.isobars(tile) : null,
      painted ? fields.picture(tile, field) : null,
      coast,
    ]);
    const contours = lines && new Contours(lines, tile.grid, plane);
    return { tile, ...field, field: field.values, grid: tile.grid, plane, coast: lands, wind, windStyle: state.wind, contours, picture };
  }

  #show(content, push) {
    const { state } = this;
    const { plane, layers, variables } = content;
    this.choices.show(state, this.catalogue, variables);
    this.problem.hide();
    const side = state.compare === "side";
    this.figures[1].hidden = !side;
    byId("maps").classList.toggle("two", side);
    this.layers = layers;
    this.camera.resize(...this.#size());
    if (this.looksAnew || this.plane?.key !== plane.key) this.#look(plane);
    this.panels.forEach((panel, n) => (layers[n] ? panel.show(layers[n], this.camera) : panel.clear()));
    this.#say(content);
    this.#mark();
    this.#remember(push);
    document.documentElement.dataset.map = "ready";
    this.pointed(this.pointer ?? null);
  }

  #say(content) {
    const { state } = this;
    describe(this.figures, state, content);
    const lacking = state.compare !== "none" && !content.other ? `${state.other.toUpperCase()} has no tile of ${this.catalogue.regionTitle(state.region)} for this time.` : "";
    this.figures.forEach((figure, n) => {
      figure.querySelector(".map-message").textContent = content.layers[n] ? "" : lacking;
      if (!content.layers[n]) this.#unsay(figure);
    });
    byId("credit").textContent = creditsOf(content);
    this.#note([this.removed, ...notesOf(state, content)].filter(Boolean).join(" "));
  }

  #unsay(figure) {
    for (const kind of [".what", ".range", ".map-legend"]) figure.querySelector(kind).replaceChildren();
  }

  #note(text) {
    if (byId("note").textContent !== text) byId("note").textContent = text;
  }

  // Shows all of a new plane, or the position in the URL.
  #look(plane) {
    Object.assign(this, { plane, looksAnew: false });
    this.#whole();
    const { at } = this.state;
    if (!at) return;
    const [x, y] = plane.project(at[0], at[1]);
    if (!Number.isFinite(x + y)) return;
    Object.assign(this.camera, { x, y });
    this.camera.zoom(at[2] / this.camera.scale);
  }

  async #fail(error, push) {
    if (error.kind === "gone" && !this.listedAgain) return this.#listAgain(push);
    this.removed = "";
    this.problem.show(error);
    this.choices.show(this.state, this.catalogue, this.layers?.length ? drawable(this.layers[0].tile.meta) : []);
    this.panels.forEach((panel) => panel.clear());
    this.figures.forEach((figure) => this.#unsay(figure));
    this.layers = null;
    this.plane = null;
    this.player.stop();
    this.#remember(push);
    document.documentElement.dataset.map = "failed";
  }

  // Called when a listed tile was removed or replaced by a newer version. Shows what is available now.
  async #listAgain(push) {
    const { model, run, region, minutes } = this.state;
    this.listedAgain = true;
    try {
      await this.catalogue.load();
      const hours = this.catalogue.regions(model, run).includes(region) ? await this.catalogue.hours(model, run, region) : [];
      const there = hours.some((one) => one.minutes === minutes);
      this.removed = there ? "" : `The tile of ${model.toUpperCase()} ${runText(run)} at ${hourText(minutes)} was removed.`;
      await this.load({ push });
    } catch (error) {
      await this.#fail(error, push);
    } finally {
      this.listedAgain = false;
      this.removed = "";
    }
  }

  #size() {
    const box = this.panels[0].element.getBoundingClientRect();
    return [Math.round(box.width), Math.round(box.height)];
  }

  async showHour(minutes) {
    this.state.minutes = minutes;
    await this.load();
    if (this.state.point) this.meteogram.mark(runTime(this.state.run) + this.state.minutes * 60_000);
  }

  async readAhead(minutes) {
    if (!this.layers?.length) return;
    const { model, run, region } = this.state;
    const hour = (await this.catalogue.hours(model, run, region)).find((one) => one.minutes === minutes);
    if (hour) this.fields.prefetch(hour.url, this.fields.needed(this.layers[0].tile.meta, this.state));
  }

  resized() {
    if (!this.layers?.length) return;
    const whole = Math.abs(this.camera.scale - this.camera.least) < 1e-9;
    this.camera.resize(...this.#size());
    const { x, y, scale } = this.camera;
    this.#whole();
    if (!whole) Object.assign(this.camera, { x, y, scale });
    this.panels.forEach((panel) => panel.draw(this.camera));
    this.#mark();
  }

  fit() {
    if (this.plane) this.#whole();
    this.state.at = null;
  }

  #whole() {
    const { plane } = this;
    this.camera.fit(plane.bounds(), plane.turn, cellOf(plane.grid ?? plane.home, plane));
  }

  #zoom(factor) {
    if (factor === null) this.fit();
    else this.camera.zoom(factor);
    this.moved();
  }

  moved() {
    if (!this.layers) return;
    cancelAnimationFrame(this.drawing);
    this.drawing = requestAnimationFrame(() => {
      this.panels.forEach((panel) => panel.move(this.camera));
      this.#mark();
    });
    const [lat, lon] = this.plane.unproject(this.camera.x, this.camera.y);
    if (Number.isFinite(lat + lon)) this.state.at = this.camera.scale === this.camera.least ? null : [lat, lon, this.camera.scale];
    clearTimeout(this.remembering);
    this.remembering = setTimeout(() => this.#remember(), 250);
  }

  #mark() {
    this.panels.forEach((panel) => panel.mark(this.state.point, this.camera));
  }

  #remember(push = false) {
    const address = writeState(this.state);
    if (address === location.search) return;
    if (push) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
  }

  pointed(place, keyed = false) {
    this.pointer = place;
    this.panels.forEach((panel) => panel.element.classList.toggle("keyed", keyed));
    const at = place && this.camera.toPlane(...place);
    const cells = (at && this.layers ? this.layers : []).map((layer) => [layer, cellAt(layer, this.plane, ...at)]).filter(([, cell]) => cell);
    showReadout(byId("readout"), cells, { several: this.layers?.length > 1, spoken: keyed });
  }

  clicked(left, top) {
    if (!this.layers?.length) return;
    const place = this.camera.toPlane(left, top);
    const [lat, lon] = this.plane.unproject(...place);
    if (cellAt(this.layers[0], this.plane, ...place) && Number.isFinite(lat + lon)) this.forecastAt(lat, lon, true);
  }

  forecastAt(lat, lon, push = false) {
    const { model, run, region, units, variable, minutes } = this.state;
    this.state.point = [lat, lon];
    this.#remember(push);
    byId("map-body").classList.add("with-forecast");
    this.#mark();
    const title = this.layers?.length ? titleOf(this.layers[0].tile.meta, variable) : variable;
    const members = this.catalogue.members(model, run, region);
    const marked = runTime(run) + minutes * 60_000;
    this.meteogram.show({ lat, lon, model, run, region, units, members, variable, title, marked, reveal: push });
  }

  closeForecast() {
    this.state.point = null;
    this.#hideForecast();
    this.#remember(true);
    this.panels[0].element.focus();
  }

  #hideForecast() {
    this.meteogram.hide();
    byId("map-body").classList.remove("with-forecast");
    this.#mark();
  }

  #refreshUnlessPlaying() {
    if (!document.hidden && !this.player.playing) this.refresh();
  }

  // Lists runs and hours again; the view stays.
  async refresh() {
    if (!this.fields) return this.#connect().catch((error) => this.problem.show(error));
    try {
      await this.catalogue.load();
    } catch (error) {
      if (this.layers && error.kind === "offline") return this.#note(OFFLINE);
      return this.problem.show(error);
    }
    return this.load();
  }
}

const page = new MapPage();
page.begin().catch((error) => page.problem.show(error));
