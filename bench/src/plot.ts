/** A plot of this run. `name` is its file in `docs/performance`, without the ending. */
export const plots: { readonly name: string; readonly svg: string }[] = []

interface Curve {
  readonly name: string
  readonly title: string
  readonly unit: string
  /** The measured points. The sizes rise. */
  readonly points: readonly (readonly [size: number, cost: number])[]
}

const [width, height, left, right, top, bottom] = [560, 260, 70, 30, 40, 40]

/** Adds a plot of a cost by a size. The axis of the sizes is logarithmic, that of the cost begins at 0. */
export function plot({ name, title, unit, points }: Curve): void {
  const sizes = points.map(([size]) => Math.log(size))
  const [least = 0, most = 1] = [sizes[0], sizes.at(-1)]
  const highest = Math.max(...points.map(([, cost]) => cost)) * 1.1
  const x = (size: number) =>
    (left + ((Math.log(size) - least) / (most - least)) * (width - left - right)).toFixed(1)
  const y = (cost: number) => (height - bottom - (cost / highest) * (height - top - bottom)).toFixed(1)
  const text = (at: string, anchor: string, content: string) =>
    `<text ${at} text-anchor="${anchor}">${content}</text>`
  const steps = [0, 1, 2, 3, 4].map((step) => (step / 4) * highest)
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    text(`x="${left}" y="22" font-size="14"`, 'start', title),
    ...steps.flatMap((cost) => [
      `<line x1="${left}" x2="${width - right}" y1="${y(cost)}" y2="${y(cost)}" stroke="#ddd"/>`,
      text(`x="${left - 6}" y="${Number(y(cost)) + 4}"`, 'end', `${rounded(cost)} ${unit}`),
    ]),
    `<polyline fill="none" stroke="#2563eb" stroke-width="2" points="${points.map(([size, cost]) => `${x(size)},${y(cost)}`).join(' ')}"/>`,
    ...points.flatMap(([size, cost]) => [
      `<circle cx="${x(size)}" cy="${y(cost)}" r="3.5" fill="#2563eb"/>`,
      text(`x="${x(size)}" y="${height - bottom + 18}"`, 'middle', size.toLocaleString('en-US')),
    ]),
    '</svg>',
  ]
  plots.push({ name, svg: `${svg.join('\n')}\n` })
}

function rounded(value: number): string {
  return value === 0 ? '0' : value < 10 ? value.toFixed(1) : value.toFixed(0)
}
