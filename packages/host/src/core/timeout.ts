import type { World } from '../ports/world.ts'

/** What a task gives, or something else where it takes longer than anybody wants to wait. It may go on unseen. */
export async function withTimeout<T>(world: World, ms: number, task: Promise<T>, otherwise: T): Promise<T> {
  let undo = () => {}
  const late = new Promise<T>((resolve) => {
    undo = world.later(ms, () => resolve(otherwise))
  })
  // Whoever has stopped waiting hears of no failure either.
  task.catch(() => {})
  try {
    return await Promise.race([task, late])
  } finally {
    undo()
  }
}
