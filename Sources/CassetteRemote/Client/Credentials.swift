internal import Platform
internal import TapeBytes

/// Keys for a server, from the environment or the files of AWS's tools.
///
/// Has no description, so that no message can contain it by accident.
package struct Credentials: Sendable, CustomStringConvertible, CustomReflectable {
    var accessKey: String
    var secretKey: String
    /// For temporary keys.
    var sessionToken: String?

    package init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
    }

    package var description: String { "credentials" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Finds credentials and settings where AWS's tools have them.
///
/// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, or else the profile `AWS_PROFILE` of `~/.aws/credentials`
/// and `~/.aws/config`. Programs that print credentials, single sign-on and the services of cloud machines are not asked.
package struct AWSEnvironment: Sendable {
    /// Far larger than any file of profiles.
    private static let sizeLimit = 1 << 20

    private let variables: @Sendable (String) -> String?
    private let read: @Sendable (String) -> String?

    package init(variables: @escaping @Sendable (String) -> String?, read: @escaping @Sendable (String) -> String?) {
        self.variables = variables
        self.read = read
    }

    /// This process's.
    package static let system = AWSEnvironment(
        variables: { name in
            guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
            return value
        },
        read: { path in
            guard let file = try? LocalFile.open(path), let bytes = try? file.readAll(limit: Self.sizeLimit) else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        })

    package var region: String? {
        self.variables("AWS_REGION") ?? self.variables("AWS_DEFAULT_REGION") ?? self.profile?["region"]
    }

    package var endpoint: String? {
        self.variables("AWS_ENDPOINT_URL_S3") ?? self.variables("AWS_ENDPOINT_URL") ?? self.profile?["endpoint_url"]
    }

    /// - Throws: `denied` if there are none, with what was looked at.
    package func credentials() throws(StoreError) -> Credentials {
        // Keys must not be in a file that a crash leaves behind.
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        #if canImport(Glibc)
        _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        #else
        _ = setrlimit(RLIMIT_CORE, &limit)
        #endif
        if let key = self.variables("AWS_ACCESS_KEY_ID") {
            guard let secret = self.variables("AWS_SECRET_ACCESS_KEY") else {
                throw StoreError(.denied, "AWS_ACCESS_KEY_ID is set without AWS_SECRET_ACCESS_KEY: set both, or neither.")
            }
            return Credentials(accessKey: key, secretKey: secret, sessionToken: self.variables("AWS_SESSION_TOKEN"))
        }
        let name = self.profileName
        if let profile, let key = profile["aws_access_key_id"], let secret = profile["aws_secret_access_key"] {
            return Credentials(accessKey: key, secretKey: secret, sessionToken: profile["aws_session_token"])
        }
        throw StoreError(
            .denied,
            "there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write both into the profile \"\(name)\" of ~/.aws/credentials (single sign-on, web identity and programs that print credentials are not asked; \"aws configure export-credentials --format env\" prints theirs)."
        )
    }

    private var profileName: String { self.variables("AWS_PROFILE") ?? self.variables("AWS_DEFAULT_PROFILE") ?? "default" }

    /// The settings of the profile: those of the credentials' file come first.
    private var profile: [String: String]? {
        let home = self.variables("HOME") ?? ""
        let config = self.read(self.variables("AWS_CONFIG_FILE") ?? "\(home)/.aws/config")
        let keys = self.read(self.variables("AWS_SHARED_CREDENTIALS_FILE") ?? "\(home)/.aws/credentials")
        let name = self.profileName
        var settings: [String: String] = [:]
        if let config {
            let section = name == "default" ? ["default", "profile default"] : ["profile \(name)"]
            settings = Self.section(section, of: config)
        }
        if let keys { settings.merge(Self.section([name], of: keys)) { $1 } }
        return settings.isEmpty ? nil : settings
    }

    /// The members of a section of an INI file. Indented lines, which belong to the member before them, are skipped.
    static func section(_ names: [String], of text: String) -> [String: String] {
        var settings: [String: String] = [:]
        var isInside = false
        for line in text.utf8.split(whereSeparator: { $0 == 10 || $0 == 13 }) {
            guard let first = line.first, first != 32, first != 9, first != UInt8(ascii: "#"), first != UInt8(ascii: ";") else { continue }
            let text = String(Substring(line))
            if first == UInt8(ascii: "[") {
                let name = text.dropFirst().prefix { $0 != "]" }.split(separator: " ").joined(separator: " ")
                isInside = names.contains(name)
            } else if isInside, let equals = text.firstIndex(of: "=") {
                let name = text[..<equals].split(separator: " ").joined()
                let value = text[text.index(after: equals)...].drop { $0 == " " || $0 == "\t" }
                let end = value.lastIndex { $0 != " " && $0 != "\t" }.map { value.index(after: $0) } ?? value.startIndex
                settings[name] = String(value[..<end])
            }
        }
        return settings
    }
}
