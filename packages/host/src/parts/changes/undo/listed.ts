/** Joins paths to a text. If there are many, the text has the first ones and the number of the others. */
export function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, mostNamed).join(', ')
  return paths.length > mostNamed ? `${shown} and ${paths.length - mostNamed} more` : shown || 'no file'
}

const mostNamed = 20
