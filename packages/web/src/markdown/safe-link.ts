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

/** The host that a link leads to, if its text is an address of another host. */
export function otherHost(text: string, href: string): string | undefined {
  const address = text.trim()
  if (!addressForm.test(address)) return undefined
  const [named, host] = [hostIn(address), hostIn(href)]
  return named === undefined || host === undefined || named === host ? undefined : host
}

/**
 * Texts that people take for an address: with a scheme or `www.`, or a name that ends as those of hosts do. Other words with a
 * dot, such as `array.map`, are none.
 */
const addressForm =
  /^(?:https?:\/\/\S+|www\.\S+|(?:[^\s/@]+@)?(?:[\w-]+\.)+(?:com|org|net|edu|gov|info|biz|io|dev|app|ai|example|eu|de|uk|fr|ch|nl|jp|cn|ru|us|ca|au)(?:[/:?#]\S*)?)$/i

/** The host of an address, or of a mail address. */
function hostIn(address: string): string | undefined {
  const [, mail] = /^(?:mailto:)?[^\s/@:]+@([^\s/@?]+)$/.exec(address) ?? []
  const whole = address.includes('://') ? address : `https://${mail ?? address}`
  return URL.canParse(whole) ? new URL(whole).hostname.replace(/^www\./, '') : undefined
}
