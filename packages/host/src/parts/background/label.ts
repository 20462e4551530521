/** The first line of a command, as people are shown what runs. */
export function labelOf(command: string): string {
  const [line = ''] = command.trim().split('\n')
  return line.length > maxLabel ? `${line.slice(0, maxLabel)}…` : line
}

const maxLabel = 100
