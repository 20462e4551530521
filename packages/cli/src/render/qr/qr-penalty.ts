type Row = readonly boolean[]

/**
 * Rates how much a drawn QR code could disturb a reader. The code is drawn with the mask that has the lowest penalty.
 */
export function penalty(modules: readonly Row[]): number {
  const columns = modules.map((_, column) => modules.map((row) => row[column] === true))
  const lines = [...modules, ...columns]
  return (
    lines.reduce((sum, line) => sum + runs(line) + lookalikes(line), 0) +
    squares(modules) +
    imbalance(modules)
  )
}

/** The penalty for five or more modules of one colour in a line. */
function runs(line: Row): number {
  let sum = 0
  let length = 0
  line.forEach((dark, at) => {
    length = at > 0 && dark === line[at - 1] ? length + 1 : 1
    if (length === 5) sum += 3
    else if (length > 5) sum++
  })
  return sum
}

/**
 * The penalty for parts of a line that look like a finder: its dark and light modules, and four light ones on a side.
 */
function lookalikes(line: Row): number {
  const text = line.map((dark) => (dark ? '1' : '0')).join('')
  return 40 * ((text.match(/(?=10111010000)/g)?.length ?? 0) + (text.match(/(?=00001011101)/g)?.length ?? 0))
}

/** The penalty for squares of four modules of one colour. */
function squares(modules: readonly Row[]): number {
  let count = 0
  modules.forEach((row, at) => {
    const below = modules[at + 1]
    row.forEach((dark, column) => {
      if (below && column + 1 < row.length)
        if (row[column + 1] === dark && below[column] === dark && below[column + 1] === dark) count++
    })
  })
  return 3 * count
}

/**
 * The penalty for too many or too few dark modules: ten points for each full 5 % that their share differs from 50 %.
 */
function imbalance(modules: readonly Row[]): number {
  const all = modules.flat()
  const dark = all.filter(Boolean).length
  return 10 * Math.floor(Math.abs(20 * dark - 10 * all.length) / all.length)
}
