extension URLEncodedFormEncoder {
    public enum SpaceEncoding: Sendable, Hashable {
        /// `%20`
        case percentEscaped
        /// `+` (WHATWG URL, 5.2)
        case plusReplaced
    }
}
