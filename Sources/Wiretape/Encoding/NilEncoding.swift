extension URLEncodedFormEncoder {
    public enum NilEncoding: Sendable {
        /// The name is left out too.
        case dropKey
        /// `key=`
        case dropValue
        /// `key=null`
        case null
        case custom(@Sendable () -> String)

        /// Nil where nothing is to be sent.
        func encode() -> String? {
            switch self {
            case .dropKey: nil
            case .dropValue: ""
            case .null: "null"
            case .custom(let encode): encode()
            }
        }
    }
}
