/** The address of a link, if a person may follow it: to the web or to mail. Nothing else leaves the page. */
export function safeLink(href: string): string | undefined {
  if (!URL.canParse(href)) return undefined
  const { protocol } = new URL(href)
  return protocol === 'https:' || protocol === 'http:' || protocol === 'mailto:' ? href : undefined
}

/** The address of a picture that is part of the text itself. Others would tell their server what is read here. */
export function safeImage(href: string): string | undefined {
  return /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/.test(href) ? href : undefined
}
