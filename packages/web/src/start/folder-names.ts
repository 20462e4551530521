/** A folder that is offered, and why. */
export interface OfferedFolder {
  readonly path: string
  readonly about: 'recent' | 'inside' | 'one up'
}

/** The folder whose content decides what is offered while a text is typed: for `/a/b/c` that is `/a/b`. */
export function listedFolder(typed: string | undefined, path: string): string {
  if (typed === undefined) return path
  return typed.startsWith('/') ? typed.replace(/\/[^/]*$/, '') || '/' : path
}

/**
 * The folders that are offered for a typed text: the recent ones first, then those in the listed folder. A folder fits if it
 * has all letters of the text in their order; those that fit best come first. Hidden folders are offered once a person has
 * typed their dot.
 *
 * @param typed Undefined: nothing was typed yet.
 */
export function offeredFolders(
  typed: string | undefined,
  path: string,
  recent: readonly string[],
  inside: readonly string[],
): readonly OfferedFolder[] {
  const listed = listedFolder(typed, path)
  const below = listed === '/' ? '' : listed
  const word = typed?.startsWith('/') ? (typed.split('/').at(-1) ?? '') : (typed ?? '')
  const own: OfferedFolder[] = recent.map((each) => ({ path: each, about: 'recent' }))
  const others: OfferedFolder[] = inside
    .filter((name) => !name.startsWith('.') || word.startsWith('.'))
    .map((name) => ({ path: `${below}/${name}`, about: 'inside' }))
  const up: OfferedFolder[] =
    listed === '/' ? [] : [{ path: listed.replace(/\/[^/]*$/, '') || '/', about: 'one up' }]
  const fits = [...own, ...others].flatMap((each) => {
    const rank =
      typed === undefined
        ? 0
        : each.about === 'inside'
          ? rankOf(each.path.slice(below.length), word)
          : rankOf(each.path, typed)
    return rank === undefined ? [] : [{ each, rank }]
  })
  // The sort is stable, so that folders that fit equally well stay recent first.
  const best = fits.toSorted((a, b) => a.rank - b.rank).map(({ each }) => each)
  const known = new Set([path])
  const unique = best.filter((each) => !known.has(each.path) && known.add(each.path))
  return [...unique, ...(typed === undefined ? up : [])].slice(0, mostOffered)
}

const mostOffered = 40

/** How well a path fits typed letters; 0 is best. Undefined: it does not have all of them in their order. */
function rankOf(path: string, typed: string): number | undefined {
  const [whole, letters] = [path.toLowerCase(), typed.toLowerCase()]
  const name = whole.split('/').at(-1) ?? ''
  if (name.startsWith(letters)) return 0
  if (name.includes(letters)) return 1
  if (whole.includes(letters)) return 2
  let at = 0
  for (const letter of letters) {
    at = whole.indexOf(letter, at) + 1
    if (at === 0) return undefined
  }
  return 3
}
