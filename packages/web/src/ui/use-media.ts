import { useEffect, useState } from 'preact/hooks'

/** Whether a media query matches now, such as `(max-width: 46rem)`. */
export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const list = matchMedia(query)
    const changed = () => setMatches(list.matches)
    changed()
    list.addEventListener('change', changed)
    return () => list.removeEventListener('change', changed)
  }, [query])
  return matches
}

/** The width up to which the page shows the list of sessions or the open session, and not both. As in the styles. */
export const narrow = '(max-width: 46rem)'
