// RunHandle: a run that was started: its JSON as it was then, and what one does with it.

export class RunHandle {
  #client

  constructor(client, { result: _result, ...run }) {
    this.#client = client
    Object.assign(this, run)
  }

  async result(options) {
    return this.#client.result(this.id, options)
  }

  async wait(options) {
    return this.#client.wait(this.id, options)
  }

  async signal(name, payload, options) {
    return this.#client.signal(this.id, name, payload, options)
  }

  events(options) {
    return this.#client.stream(this.id, options)
  }

  async cancel(options) {
    return this.#client.cancel(this.id, options)
  }
}
