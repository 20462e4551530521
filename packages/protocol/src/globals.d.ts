// The only platform globals that this package may use; browsers, Node and workers all have them. They are declared
// here, and the DOM and Node types are not loaded, so that any other global is a compile error.

interface AbortSignal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

declare class AbortController {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
}

declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean })
  decode(bytes: Uint8Array): string
}

declare class TextEncoder {
  encode(text: string): Uint8Array
}

declare function queueMicrotask(task: () => void): void
