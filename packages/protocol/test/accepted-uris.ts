interface LiteralUri {
  readonly uri: string
  readonly path: string
  readonly why: string
}

interface WindowsNames {
  readonly why: string
  readonly names: readonly string[]
}

/** URIs that are accepted, each with exactly this path. Some programs would read each of them as something else. */
export const literalUris: readonly LiteralUri[] = [
  literal('file:///work/%252e%252e/etc/passwd', '/work/%2e%2e/etc/passwd', 'goes up if it is decoded twice'),
  literal('file:///work/%25252e', '/work/%252e', 'is `.` if it is decoded three times'),
  literal('file:///work/..%252fetc', '/work/..%2fetc', 'hides a slash if it is decoded twice'),
  literal('file:///work/%255c..%255c', '/work/%5c..%5c', 'hides a backslash if it is decoded twice'),
  literal('file:///work/a%2500', '/work/a%00', 'has a NUL if it is decoded twice'),
  literal('file:///work/...', '/work/...', 'three dots are a name'),
  literal('file:///work/..a', '/work/..a', 'a name may begin with dots'),
  literal('file:///work/a..', '/work/a..', 'a name may end with dots'),
  literal('file:///work/..%3B/etc', '/work/..;/etc', 'some servers cut a name at a semicolon'),
  literal('file:///work/..;/etc', '/work/..;/etc', 'the same, not encoded'),
  literal(
    'file:///work/%EF%BC%8E%EF%BC%8E/etc',
    '/work/．．/etc',
    'fullwidth dots, which some programs convert to dots',
  ),
  literal('file:///work/..%EF%BC%8Fetc', '/work/..／etc', 'a fullwidth slash'),
  literal('file:///work/%E2%80%A5/etc', '/work/‥/etc', 'two dots in one character'),
  literal('file:///work/%E2%80%A4%E2%80%A4/etc', '/work/․․/etc', 'leader characters that look like dots'),
  literal('file:///work/..%E2%88%95etc', '/work/..∕etc', 'a division slash'),
  literal('file:///work/..%E2%81%84etc', '/work/..⁄etc', 'a fraction slash'),
  literal('file:///work/%EF%BC%BC..', '/work/＼..', 'a fullwidth backslash'),
  literal('file:///work/.%E2%80%8B./etc', '/work/.\u200b./etc', 'a zero-width space between the dots'),
  literal('file:///work/.%EF%BB%BF./etc', '/work/.\ufeff./etc', 'a byte order mark between the dots'),
  literal('file:///work/.%C2%AD./etc', '/work/.\u00ad./etc', 'a soft hyphen between the dots'),
  literal('file:///work/.%CC%B8.', '/work/.\u0338.', 'a combining mark on a dot'),
  literal('file:///work/%E2%85%8F', '/work/⅏', 'a symbol that few fonts have'),
  literal('file:///work/a%0Ab', '/work/a\nb', 'a line break is allowed in a name'),
  literal('file:///work/%1B%5B2J', '/work/\u001b[2J', 'would clear the terminal that prints it'),
  literal('file:///work/%20', '/work/ ', 'a name that is one space'),
  literal('file:///work/-rf', '/work/-rf', 'would be an option of a command'),
  literal('file:///work/%24(id)', '/work/$(id)', 'would be run by a shell'),
  literal("file:///work/';id;'", "/work/';id;'", 'would end a quotation in a shell'),
  literal('file:///work/%60id%60', '/work/`id`', 'would be run by a shell'),
  literal('file:///work/%7Cid', '/work/|id', 'would be run by a shell'),
  literal('file:///work/%7E', '/work/~', 'would be the home directory in a shell'),
  literal('file:///work/*', '/work/*', 'would match all files in a shell'),
  literal('file:///work/%3Ca%3E', '/work/<a>', 'would be a redirection, or markup'),
  literal('file:///work/%3F/a', '/work/?/a', 'an encoded question mark does not begin a query'),
  literal('file:///work/a%23b', '/work/a#b', 'an encoded hash does not begin a fragment'),
  literal('file:///work/C%3A/a', '/work/C:/a', 'a drive that is not the first name'),
  literal('file:///work/@/a', '/work/@/a', 'an at sign outside the authority'),
  literal('FILE:///work/a', '/work/a', 'the case of a scheme does not matter'),
  literal('fIlE:/work/a', '/work/a', 'the case of a scheme does not matter'),
  literal('file://LOCALHOST/work/a', '/work/a', 'the case of a host does not matter'),
  literal('file:///work/a/', '/work/a', 'a slash at the end'),
  literal('file:///%77%6F%72%6B/a', '/work/a', 'letters that need no escape'),
  literal('file:///work/Pass%77d', '/work/Passwd', 'letters that need no escape'),
  literal(`file:///work/${'a'.repeat(300)}`, `/work/${'a'.repeat(300)}`, 'too long for a file name'),
  literal('file:///work/__proto__', '/work/__proto__', 'the name of a built-in object key'),
  literal(
    'file:///work/e%CC%81',
    '/work/e\u0301',
    'a decomposed character that also has a one-character form',
  ),
]

/** Names that Windows refuses and other systems accept. */
export const windowsNames: readonly WindowsNames[] = [
  group('names a device', [
    'CON',
    'con',
    'PRN',
    'AUX',
    'NUL',
    'nul.txt',
    'NUL%20.txt',
    'COM1',
    'com9.log',
    'LPT1',
    'LPT%C2%B9',
    'CONIN%24',
    'CONOUT%24',
    'CLOCK%24',
    'COM0',
  ]),
  group('names an alternate data stream', ['a.txt:hidden', 'a.txt::%24DATA', 'a%3Ahidden', ':%24DATA']),
  group('ends with characters that Windows ignores', ['a.', 'a%20', 'a...', 'a.%20.', 'web.config%20']),
  group('has a character that Windows forbids', [
    '%3Ca',
    'a%3E',
    '%22a%22',
    'a%7Cb',
    'a%3Fb',
    'a%2A',
    'a%09b',
  ]),
]

function literal(uri: string, path: string, why: string): LiteralUri {
  return { uri, path, why }
}

function group(why: string, names: readonly string[]): WindowsNames {
  return { why, names }
}
