import { topToggled } from './customizations.ts'
import { requestRules } from './requests.ts'
import { absent } from './table.ts'
import type { VersionRules } from './table.ts'
import { traits052, v052 } from './v0-5-2.ts'

/** At 0.5.1 a completed input request leaves nothing in the turn. */
const { inputCompleted } = requestRules(traits052)

export const v051: VersionRules = {
  ...v052,
  session: {
    ...v052.session,
    ...absent('session/mcpServerStartRequested', 'session/mcpServerStopRequested'),
    'session/customizationToggled': topToggled,
  },
  chat: { ...v052.chat, 'chat/inputCompleted': inputCompleted },
  changeset: { ...v052.changeset, ...absent('changeset/filesReviewedChanged') },
}
