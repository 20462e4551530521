import { rootCommand } from '../command.ts'
import { array, boolean, id, natural, number, object, oneOf, openEnum, optional, string } from '../schema.ts'
import type { Infer, TypeOf } from '../schema.ts'
import { GlobCollection } from '../resource-watch/state.ts'

export const ContentEncoding = oneOf('ContentEncoding', ['base64', 'utf-8'])
export type ContentEncoding = TypeOf<typeof ContentEncoding>

export const ResourceType = openEnum('ResourceType', ['file', 'directory', 'symlink'])

const entry = { name: string, type: ResourceType }
export interface ResourceEntry extends Infer<typeof entry> {}
export const ResourceEntry = object<ResourceEntry>('ResourceEntry', entry)

const content = { data: string, encoding: ContentEncoding, contentType: optional(string) }
const fromTo = { source: id, destination: id, failIfExists: optional(boolean) }
const watched = { uri: id, recursive: optional(boolean) }

/** A request for access to a resource. Without `read` and `write` it asks for read access. */
export const resourceRequestShape = { uri: id, read: optional(boolean), write: optional(boolean) }
export type ResourceRequest = Infer<typeof resourceRequestShape>

/** File commands. Both sides may send them; the side that receives one decides whether the access is allowed. */
export const resourceCommands = {
  resourceRead: rootCommand({ uri: id, encoding: optional(ContentEncoding) }, content, 'either'),
  resourceWrite: rootCommand(
    {
      ...content,
      uri: id,
      createOnly: optional(boolean),
      mode: optional(oneOf('ResourceWriteMode', ['truncate', 'append', 'insert'])),
      position: optional(natural),
      ifMatch: optional(string),
    },
    {},
    'either',
  ),
  resourceList: rootCommand({ uri: id }, { entries: array(ResourceEntry) }, 'either'),
  resourceCopy: rootCommand(fromTo, {}, 'either'),
  resourceMove: rootCommand(fromTo, {}, 'either'),
  resourceDelete: rootCommand({ uri: id, recursive: optional(boolean) }, {}, 'either'),
  resourceResolve: rootCommand(
    { uri: id, followSymlinks: optional(boolean) },
    {
      uri: id,
      type: ResourceType,
      size: optional(number),
      mtime: optional(string),
      ctime: optional(string),
      contentType: optional(string),
      etag: optional(string),
    },
    'either',
  ),
  resourceMkdir: rootCommand({ uri: id }, {}, 'either'),
  resourceRequest: rootCommand(resourceRequestShape, {}, 'either'),
  createResourceWatch: rootCommand(
    { ...watched, excludes: optional(GlobCollection), includes: optional(GlobCollection) },
    { channel: id },
    'either',
  ),
}
