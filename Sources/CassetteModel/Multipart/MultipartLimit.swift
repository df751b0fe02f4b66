/// Which limit a multipart body has passed.
public enum MultipartLimit: Sendable, Hashable {
    case parts, headerSection, headerLines
}
