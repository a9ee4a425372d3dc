// Shows what went wrong, and what to do about it.
export class Problem {
  constructor(element, again) {
    this.element = element;
    this.text = element.querySelector("span");
    this.login = element.querySelector("a");
    this.again = element.querySelector("button");
    this.again.addEventListener("click", again);
  }

  show(error) {
    this.text.textContent = error.message;
    this.login.hidden = error.kind !== "login";
    this.login.href = `/login?next=${encodeURIComponent(location.pathname + location.search + location.hash)}`;
    this.again.hidden = error.kind === "login";
    this.element.hidden = false;
  }

  hide() {
    this.element.hidden = true;
  }
}
