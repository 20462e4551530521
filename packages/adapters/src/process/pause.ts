import type { World } from '@atrium/host/ports/world'

/** Resolves when the time has come, or at once when there is nobody left to wait for. */
export function pause(later: World['later'], ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const undo = later(ms, end)
    signal.addEventListener('abort', end)
    function end(): void {
      undo()
      signal.removeEventListener('abort', end)
      resolve()
    }
  })
}
