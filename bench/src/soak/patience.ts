/** What takes longer than anything may take under load never comes. */
const patience = 60_000

/** Waits for it, but not for ever: whoever waits is named. */
export async function patiently<T>(what: string, task: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`still waiting: ${what}`)), patience)
  })
  return Promise.race([task, late]).finally(() => clearTimeout(timer))
}
