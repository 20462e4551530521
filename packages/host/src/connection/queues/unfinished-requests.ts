import type { FairQueue } from './fair-queue.ts'

/**
 * The requests that were begun on links which have ended since, by client. Such a request is carried out to its end. A message
 * that the client sends on its next link must wait for the request, as it would have waited on the same link. The message may
 * name a channel that the request creates.
 */
export class UnfinishedRequests {
  readonly #byClient = new Map<string, Promise<unknown>>()

  /** Adds a request that was begun on a client's link and was not finished when the link ended. */
  add(clientId: string, request: Promise<unknown>): void {
    const all = Promise.allSettled([this.#byClient.get(clientId), request])
    this.#byClient.set(clientId, all)
    void all.then(() => {
      if (this.#byClient.get(clientId) === all) this.#byClient.delete(clientId)
    })
  }

  /** Resolves when all of a client's requests are finished. Undefined if all are finished already. Never rejects. */
  of(clientId: string): Promise<unknown> | undefined {
    return this.#byClient.get(clientId)
  }
}

/** What all connections of a host share. */
export interface SharedQueues {
  readonly fair: FairQueue
  readonly unfinished: UnfinishedRequests
}
