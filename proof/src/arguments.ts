import { parseArgs } from 'node:util'
import type { ParseArgsConfig } from 'node:util'

/** Parses the arguments of a command. If they ask for help or are wrong, prints the usage and ends the process. */
export function argumentsOf<const T extends ParseArgsConfig>(
  config: T,
  usage: string,
): ReturnType<typeof parseArgs<T>> {
  if (process.argv.includes('--help')) {
    process.stdout.write(`${usage}\n`)
    process.exit(0)
  }
  try {
    return parseArgs(config)
  } catch (error) {
    const [sentence] = (error instanceof Error ? error.message : String(error)).split('. ')
    process.stderr.write(`${sentence}\n\n${usage}\n`)
    process.exit(2)
  }
}
