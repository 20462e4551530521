/** Why a scene did not end as it should, in a few words. */
export class Failure extends Error {
  override readonly name = 'Failure'
}

/** Fails unless it is so. */
export function must(so: boolean, otherwise: string): asserts so {
  if (!so) throw new Failure(otherwise)
}

/** A thing that must happen within so many milliseconds, and a failure that names it if it does not. */
export async function soon<T>(happening: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const never = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Failure(`never came: ${what}`)), ms)
  })
  return Promise.race([happening, never]).finally(() => clearTimeout(timer))
}
