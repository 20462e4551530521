import type { World } from '@atrium/host/ports/world'

/**
 * Waits for a task at most `ms` milliseconds. After this time calls `onTimeout`, which returns another result or throws. The
 * task is not stopped, and its later outcome is ignored.
 */
export async function withTimeout<T>(
  later: World['later'],
  ms: number,
  task: Promise<T>,
  onTimeout: () => T,
): Promise<T> {
  let cancel = () => {}
  const timeout = new Promise<typeof timedOut>((resolve) => {
    cancel = later(ms, () => resolve(timedOut))
  })
  // Without this line, a rejection of the task after the timeout would be unhandled.
  task.catch(() => {})
  try {
    const result = await Promise.race([task, timeout])
    return result === timedOut ? onTimeout() : result
  } finally {
    cancel()
  }
}

/** A timer for code that has no `World`. The timer does not keep the Node process alive. */
export const unrefTimer: World['later'] = (ms, task) => {
  const timer = setTimeout(task, ms).unref()
  return () => clearTimeout(timer)
}

const timedOut = Symbol('timed out')
