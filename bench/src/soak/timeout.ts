/** The timeout of a step in milliseconds. No step may take that long under load. */
const timeoutMs = 60_000

/** Waits for a task. At the timeout, rejects with an error that names `what`. */
export async function withTimeout<T>(what: string, task: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`timeout: ${what}`)), timeoutMs)
  })
  return Promise.race([task, late]).finally(() => clearTimeout(timer))
}
