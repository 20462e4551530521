import type { MessageAttachment } from '@atrium/protocol/chat/message'
import { toBase64 } from '@atrium/protocol/text/base64'

/** The largest file that can be attached. Base64 makes it a third longer, and a message may have at most 4 MiB. */
const maxBytes = 2_500_000

/** Turns files of this machine into attachments. A file that is too large is named in `problems`. */
export async function attachmentsOf(
  files: readonly File[],
): Promise<{ readonly attachments: readonly MessageAttachment[]; readonly problems: readonly string[] }> {
  const small = files.filter(({ size }) => size <= maxBytes)
  const problems = files
    .filter(({ size }) => size > maxBytes)
    .map(({ name }) => `${name} is too large to attach: a file may have at most 2.5 MB.`)
  const attachments = await Promise.all(small.map(attachmentOf))
  return { attachments, problems }
}

async function attachmentOf(file: File): Promise<MessageAttachment> {
  const data = toBase64(new Uint8Array(await file.arrayBuffer()))
  const contentType = file.type === '' ? 'application/octet-stream' : file.type
  return {
    type: 'embeddedResource',
    label: file.name === '' ? 'pasted file' : file.name,
    data,
    contentType,
    ...(contentType.startsWith('image/') && { displayKind: 'image' }),
  }
}
