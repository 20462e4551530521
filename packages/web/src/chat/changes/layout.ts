import { useEffect, useState } from 'preact/hooks'

export type DiffLayout = 'unified' | 'split'

const key = 'diff-layout'
/** The width below which the sides of a diff have no room beside each other. */
const narrow = '(max-width: 60rem)'

/** The layout of diffs that a person has chosen in this browser, and whether both sides have room beside each other. */
export function useDiffLayout(): {
  readonly layout: DiffLayout
  readonly hasRoom: boolean
  readonly choose: (layout: DiffLayout) => void
} {
  const [chosen, setChosen] = useState<DiffLayout>(
    localStorage.getItem(key) === 'split' ? 'split' : 'unified',
  )
  const [hasRoom, setHasRoom] = useState(!matchMedia(narrow).matches)
  useEffect(() => {
    const query = matchMedia(narrow)
    const changed = () => setHasRoom(!query.matches)
    query.addEventListener('change', changed)
    return () => query.removeEventListener('change', changed)
  }, [])
  const choose = (layout: DiffLayout) => {
    localStorage.setItem(key, layout)
    setChosen(layout)
  }
  return { layout: hasRoom ? chosen : 'unified', hasRoom, choose }
}
