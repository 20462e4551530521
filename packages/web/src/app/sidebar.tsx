import type { Client } from '@atrium/client/client'
import { CalendarClock, Moon, Plus, ScanSearch, Settings as SettingsIcon, Sun, SunMoon } from 'lucide'
import { memo } from 'preact/compat'
import { LinkState } from '../link/link-state.tsx'
import { RoleNote } from '../link/role-note.tsx'
import { useMay } from '../link/role.ts'
import { SessionListView } from '../sessions/session-list.tsx'
import type { SessionRowActions } from '../sessions/session-row.tsx'
import type { ListedSessions } from '../sessions/use-session-list.ts'
import { Button } from '../ui/button.tsx'
import { useCommands } from '../ui/commands.ts'
import { useMemo } from 'preact/hooks'
import { Brand } from './brand.tsx'
import { NotifyButton } from './notify-button.tsx'
import { useTheme } from './theme.ts'

interface Props extends SessionRowActions, ListedSessions {
  readonly client: Client
  readonly selected: string | undefined
  readonly onNew: () => void
  /** Opens the palette. The button is for touch screens, which have no keys for that. */
  readonly onFind: () => void
  readonly onAutomations: () => void
  readonly onSettings: () => void
  readonly say: (text: string) => void
}

const icons = { system: SunMoon, light: Sun, dark: Moon } as const

/** The left side: the state of the link, a new session, and all sessions. */
export const Sidebar = memo(function Sidebar({ client, onNew, onFind, say, ...rest }: Props) {
  const { onAutomations, onSettings, ...list } = rest
  const [theme, nextTheme] = useTheme()
  const creates = useMay('prompt')
  useCommands(
    useMemo(
      () => [{ id: 'theme', label: 'Next theme: system, light, dark', keys: 't', run: nextTheme }],
      [nextTheme],
    ),
  )
  return (
    <aside class="sidebar" aria-label="Sessions of this host">
      <header class="sidebar-head">
        <Brand />
        <span class="sidebar-tools">
          <Button icon={ScanSearch} label="Find a session or an action" look="quiet" onClick={onFind} />
          <NotifyButton client={client} say={say} />
          <Button icon={icons[theme]} label={`Theme: ${theme}`} look="quiet" onClick={nextTheme} />
          <Button icon={CalendarClock} label="Automations" look="quiet" onClick={onAutomations} />
          <Button icon={SettingsIcon} label="Settings" look="quiet" onClick={onSettings} />
        </span>
      </header>
      <div class="sidebar-row">
        <LinkState client={client} />
        {creates && (
          <Button icon={Plus} look="primary" onClick={onNew}>
            New session
          </Button>
        )}
      </div>
      <RoleNote needed="prompt" to="write messages or begin sessions" />
      <SessionListView {...list} />
    </aside>
  )
})
