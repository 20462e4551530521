import { scriptUrl } from '../script-url.ts'
import type { Span } from './highlight-spans.ts'
// The bundler replaces this import by the URL of the built worker. The file itself has no default export.
// oxlint-disable-next-line import/default
import workerUrl from './highlight-worker.ts?worker&url'

/** The most characters of code that gets colours. For longer code, finding the colours would take seconds. */
const maxLength = 100_000

let worker: Worker | undefined
let last = 0
const waiting = new Map<number, (spans: readonly Span[] | undefined) => void>()

/**
 * Splits code into coloured pieces. A worker does this; it is started for the first block of code. Undefined: no
 * colours.
 */
export function highlight(text: string, language: string): Promise<readonly Span[] | undefined> {
  if (text.length > maxLength) return Promise.resolve(undefined)
  worker ??= start()
  const id = ++last
  worker.postMessage({ id, text, language: language.toLowerCase() })
  return new Promise((resolve) => waiting.set(id, resolve))
}

function start(): Worker {
  // With Trusted Types this is an object that `Worker` accepts in place of a string: hence the cast.
  const started = new Worker(scriptUrl(workerUrl) as string, { type: 'module' })
  started.addEventListener('message', ({ data }: MessageEvent<{ id: number; spans?: readonly Span[] }>) => {
    waiting.get(data.id)?.(data.spans)
    waiting.delete(data.id)
  })
  return started
}
