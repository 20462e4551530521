import type { Worker } from 'node:worker_threads'
import type { ContentEncoder, ContentForm } from '@atrium/host/ports/content-encoder'
import { newThread } from '../process/thread.ts'
import type { EncoderInput, EncoderOutput } from './encoder-worker.ts'

/** Encodes content in a worker thread, one content after the other. The thread starts with the first content. */
export function threadEncoder(): ContentEncoder {
  return new ThreadEncoder()
}

class ThreadEncoder implements ContentEncoder {
  #worker: Worker | undefined
  #lastId = 0
  readonly #pending = new Map<number, Pending>()

  encode(bytes: Uint8Array, form: ContentForm): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      this.#pending.set(id, { resolve, reject })
      const worker = (this.#worker ??= this.#start())
      worker.ref()
      const input: EncoderInput = { id, bytes, ...form }
      worker.postMessage(input, ownsBuffer(bytes) ? [bytes.buffer as ArrayBuffer] : [])
    })
  }

  #start(): Worker {
    const worker = newThread(new URL('./encoder-worker.js', import.meta.url))
    worker.on('message', ({ id, json }: EncoderOutput) => {
      this.#pending.get(id)?.resolve(json)
      this.#pending.delete(id)
      // An idle worker does not keep the process alive.
      if (this.#pending.size === 0) worker.unref()
    })
    // An exit event follows each error. The next content starts a new worker.
    worker.on('error', () => undefined)
    worker.on('exit', () => {
      this.#worker = undefined
      const pending = [...this.#pending.values()]
      this.#pending.clear()
      for (const { reject } of pending) reject(new Error('the thread that encodes content has ended'))
    })
    return worker
  }
}

interface Pending {
  readonly resolve: (json: Uint8Array) => void
  readonly reject: (error: Error) => void
}

/**
 * Whether no other data shares the buffer of the bytes, so that the buffer can be transferred to the worker without a copy.
 * Small buffers of Node share memory. The buffer may be one byte longer than the bytes, because a file is read into such a
 * buffer.
 */
function ownsBuffer({ buffer, byteOffset, length }: Uint8Array): boolean {
  return buffer instanceof ArrayBuffer && byteOffset === 0 && buffer.byteLength <= length + 1
}
