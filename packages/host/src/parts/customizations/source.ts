import type { Uri } from '@atrium/protocol/channel'
import type { ClientPluginCustomization } from '@atrium/protocol/session/customization'
import type { CustomizationFolder } from '../../plugins/folders.ts'
import type { PluginFiles } from '../../plugins/plugin-files.ts'

/** A plugin, or a folder of customizations, before it is read. */
export interface Source {
  /** The id of its customization, the same in every session and after a restart. */
  readonly id: string
  readonly uri: Uri
  readonly name: string
  /** Who gave it: the user of the host, a folder that a session works in, or a client. Only the first is trusted. */
  readonly origin: 'host' | 'workspace' | 'client'
  /** The kind of folder. Absent for a plugin. */
  readonly folder?: CustomizationFolder
  /** The plugin as its client has published it, for the origin `client`. */
  readonly published?: Published
  readonly files: PluginFiles
}

export interface Published {
  readonly clientId: string
  readonly plugin: ClientPluginCustomization
}

/** Whether programs of a source need the consent of a user. */
export function needsConsent({ origin }: Pick<Source, 'origin'>): boolean {
  return origin !== 'host'
}
