/// Where the octets of a part come from.
public enum FormDataSource: Sendable {
    case octets([UInt8])
    case file(FormDataFile)
    case stream(FormDataStream)

    public var length: Int {
        switch self {
        case .octets(let octets): octets.count
        case .file(let file): file.size
        case .stream(let stream): stream.length
        }
    }
}
