import type * as Ai from 'ai'

let loading: Promise<typeof Ai> | undefined

/** The library that speaks to models. It is large, so it is loaded when the first turn needs it, and not before. */
export function library(): Promise<typeof Ai> {
  loading ??= import('ai').then((loaded) => {
    // What it thinks of a model's options is nothing for the terminal that a host was started in.
    Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })
    return loaded
  })
  return loading
}
