import { late } from './late.tsx'

/** The past of a chat. */
export const PastView = late(
  () => import('../history/history-view.tsx').then(({ HistoryView }) => HistoryView),
  'Opening the history…',
)

/** The automations of the host. */
export const AutomationsView = late(
  () => import('../automations/automations-view.tsx').then((loaded) => loaded.AutomationsView),
  'Opening the automations…',
)

/** The settings of the host and of this browser. */
export const SettingsView = late(
  () => import('../settings/settings-view.tsx').then((loaded) => loaded.SettingsView),
  'Opening the settings…',
)
