import type { LanguageModelV3ToolResultOutput } from '@ai-sdk/provider'
import type { ToolCallState, ToolResultContent } from '@atrium/protocol/chat/tool'

type Embedded = Extract<ToolResultContent, { readonly type: 'embeddedResource' }>
type ContentPart = Extract<LanguageModelV3ToolResultOutput, { readonly type: 'content' }>['value'][number]

/** Returns embedded content as text for the model: the text itself, or a note. Empty for an image that is sent as such. */
export function embeddedText({ data, contentType }: Embedded, sendsImages: boolean): string {
  const type = mediaType(contentType)
  if (imageTypes.has(type)) return sendsImages ? '' : '(An image, which this model cannot see.)'
  if (/^text\/|\bjson$|\bxml$/.test(type)) return Buffer.from(data, 'base64').toString('utf8')
  return `(A file of the type ${JSON.stringify(type.slice(0, 100))}, which is not shown.)`
}

/** Returns the images in the result of a call. */
export function imagesOf(call: ToolCallState): readonly ContentPart[] {
  if (call.status !== 'completed') return []
  return (call.content ?? []).flatMap((content): readonly ContentPart[] => {
    if (content.type !== 'embeddedResource' || !imageTypes.has(mediaType(content.contentType))) return []
    return [{ type: 'image-data', data: content.data, mediaType: mediaType(content.contentType) }]
  })
}

function mediaType(contentType: string): string {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/** The image types that the providers accept. */
export const imageTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
