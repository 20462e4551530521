import { useCallback, useState } from 'preact/hooks'

export type Theme = 'system' | 'light' | 'dark'
const themes: readonly Theme[] = ['system', 'light', 'dark']
const key = 'theme'

/** Applies the chosen theme. Without a choice, the page follows the system. */
export function applyTheme(theme: Theme = saved()): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

/** The theme, and a function that goes on to the next one. */
export function useTheme(): readonly [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(saved)
  const next = useCallback(() => {
    const chosen = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system'
    localStorage.setItem(key, chosen)
    applyTheme(chosen)
    setTheme(chosen)
  }, [theme])
  return [theme, next]
}

function saved(): Theme {
  const text = localStorage.getItem(key)
  return themes.find((theme) => theme === text) ?? 'system'
}
