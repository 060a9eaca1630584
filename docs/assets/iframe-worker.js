// Browsers give no workers to pages that are opened as files: there the search runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.documentElement.append(this.frame);
      this.scope = this.frame.contentWindow;
      this.scope.postMessage = (data) => this.onmessage?.({ data });
      const script = this.frame.contentDocument.createElement("script");
      this.loaded = new Promise((resolve) => (script.onload = resolve));
      script.src = new URL(url, location);
      this.frame.contentDocument.head.append(script);
    }

    postMessage(data) {
      this.loaded.then(() => this.scope.onmessage({ data }));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
