// Fetches JSON. Error messages are sentences for the user.
import { TileError } from "../tile/tile_error.js";

export async function getJson(url, signal) {
  let response;
  try {
    response = await fetch(url, { signal, credentials: "same-origin", headers: { Accept: "application/json" } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new TileError("The server does not respond.", "offline");
  }
  const body = await response.json().catch(() => null);
  if (response.ok && body !== null) return body;
  if (response.status === 401) throw new TileError("You are no longer logged in.", "login");
  throw new TileError(body?.detail ?? `The server responded with status ${response.status}.`);
}
