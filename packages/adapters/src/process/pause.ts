import type { World } from '@atrium/host/ports/world'

/** Resolves after `ms` milliseconds, or as soon as the signal aborts. */
export function pause(later: World['later'], ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const cancel = later(ms, end)
    signal.addEventListener('abort', end)
    function end(): void {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
  })
}
