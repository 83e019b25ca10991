// A request whose body's way can be watched: fetch does not tell how much of it is sent.

export function sendWatched(url, { method, body, headers, signal }, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => onProgress(event.total ? event.loaded / event.total : 0);
    request.upload.onload = () => onProgress(1);
    request.onload = () =>
      resolve(new Response(request.response, { status: request.status, statusText: request.statusText }));
    request.onerror = () => reject(new TypeError("The connection failed."));
    request.onabort = () => reject(new DOMException("Aborted", "AbortError"));
    signal?.addEventListener("abort", () => request.abort(), { once: true });
    request.send(body);
  });
}
