import { toggled } from './customizations.ts'
import { absent } from './table.ts'
import type { VersionRules } from './table.ts'
import { v08 } from './v0-8.ts'

/**
 * The development state between 0.7 and 0.8, of which fixtures were published. In it a customization is still enabled
 * by one flag.
 */
export const v08dev: VersionRules = {
  ...v08,
  session: {
    ...v08.session,
    ...absent('session/workingDirectoryReplaced'),
    'session/customizationToggled': toggled,
  },
}
