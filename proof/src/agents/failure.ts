/** The reason why a scene failed, in a few words. */
export class Failure extends Error {
  override readonly name = 'Failure'
}

/** Throws a `Failure` unless the condition holds. */
export function must(so: boolean, otherwise: string): asserts so {
  if (!so) throw new Failure(otherwise)
}

/** Waits for an event. After `ms` milliseconds, throws a `Failure` that names the event by `what`. */
export async function withTimeout<T>(event: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const never = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Failure(`timed out: ${what}`)), ms)
  })
  return Promise.race([event, never]).finally(() => clearTimeout(timer))
}
