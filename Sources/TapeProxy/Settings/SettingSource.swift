/// Where a setting comes from.
public enum SettingSource: Sendable, Hashable, CustomStringConvertible {
    case standard
    case cassette(String)
    /// A line of a configuration file, from 1; in the section of some cassettes where `section` names them.
    case file(String, line: Int, section: String?)
    case commandLine
    /// What a session was ordered with.
    case session

    public var description: String {
        switch self {
        case .standard: "default"
        case .cassette(let path): path
        case .file(let path, let line, nil): "\(path) line \(line)"
        case .file(let path, let line, let section?): "\(path) line \(line), for \"\(section)\""
        case .commandLine: "command line"
        case .session: "session"
        }
    }
}
