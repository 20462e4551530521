import type { World } from '../ports/world.ts'

/**
 * Waits for a task, but at most for this time. After the timeout it returns what `otherwise` returns, or rejects with what
 * `otherwise` throws. The task itself is not stopped.
 */
export async function withTimeout<T>(
  world: World,
  ms: number,
  task: Promise<T>,
  otherwise: () => T,
): Promise<T> {
  let cancel = () => {}
  const late = new Promise<void>((resolve) => {
    cancel = world.later(ms, resolve)
  })
  // A task that fails after the timeout must not become an unhandled rejection.
  task.catch(() => {})
  try {
    return await Promise.race([task, late.then(otherwise)])
  } finally {
    cancel()
  }
}
