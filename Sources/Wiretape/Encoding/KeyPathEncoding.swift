extension URLEncodedFormEncoder {
    /// How the name of a member within an object follows the object's.
    public enum KeyPathEncoding: Sendable {
        /// `parent[child][grandchild]`
        case brackets
        /// `parent.child.grandchild`
        case dots
        /// What follows the parent's name, of the child's.
        case custom(@Sendable (String) -> String)

        func encode(_ key: String) -> String {
            switch self {
            case .brackets: "[\(key)]"
            case .dots: ".\(key)"
            case .custom(let encode): encode(key)
            }
        }
    }
}
