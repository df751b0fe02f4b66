internal import CassetteModel
internal import TapeBytes

/// Finds passwords in command lines, as in logs and scripts, and in lists of a command's words: `curl -u user:X`, `mysql -pX`, `["sshpass",
/// "-p", "X"]`, `docker login -p X`.
///
/// Must be asked for flags in ascending order. Examines each byte of the text once to find the programs, and reads the words of each
/// command once.
struct CommandSurvey {
    let text: SurveyText

    /// Where to start looking for the program of the next flag.
    private var position = 0
    private var program: (program: Program, start: Int)?
    /// Whether the command contains the word `login`.
    private var isLogin = false
    /// The start of the program whose words were read last.
    private var readProgram = -1
    /// How many bytes were examined, for tests of the cost.
    private(set) var looked = 0

    /// The most bytes and words of one command.
    private static let lengthLimit = 4096
    private static let wordLimit = 64
    /// How many bytes before a flag the program's name may be.
    private static let reach = 512

    init(text: SurveyText) {
        self.text = text
    }

    /// A password, or cookies, in the words of a command.
    struct Password {
        var range: Range<Int>
        var kind = "password"
        var isCookie = false
    }

    // MARK: Programs

    /// Which part of an option's value is secret.
    private enum Part {
        case all, afterColon, afterPercent, afterComma, cookies
        /// `pass:X`
        case afterPass
        /// `-a user:X`, or a token alone.
        case afterColonOrToken
    }

    private struct Option {
        let names: [StaticString]
        var part = Part.all
        var kind = "password"
        /// Whether the value may be the next word.
        var isAttached = true
        /// The value may be the next word.
        var isSeparate = true
    }

    private struct Program {
        let name: StaticString
        /// Whether other programs have names that continue after it: `mysqldump`.
        var isPrefix = false
        let options: [Option]
        /// Letters of flags without a value that may precede another flag: `-sSu`.
        var flags: StaticString = ""
        /// Whether nothing after the first password belongs to the command: another command follows.
        var endsAfterPassword = false
        /// The last word is a password if a flag has this letter.
        var lastWordAfterFlag: UInt8?
        /// A word that precedes the options: other commands of the program have the same options with another meaning.
        var command: StaticString?
    }

    private static let programs: [Program] = [
        Program(
            name: "curl",
            options: [
                Option(names: ["-u", "--user", "-U", "--proxy-user"], part: .afterColon),
                Option(names: ["-E", "--cert", "--proxy-cert"], part: .afterColon),
                Option(names: ["--pass", "--proxy-pass", "--tlspassword", "--proxy-tlspassword"]),
                Option(names: ["--oauth2-bearer"], kind: "access_token"), Option(names: ["-b", "--cookie"], part: .cookies),
            ], flags: "sSfkLivgnNqIOJRjaBGlMpZ#012346"),
        Program(name: "https", options: Self.httpie), Program(name: "http", options: Self.httpie),
        Program(name: "xh", options: Self.httpie), Program(name: "xhs", options: Self.httpie),
        Program(name: "httpie", options: Self.httpie),
        Program(name: "curlie", options: [Option(names: ["-u", "--user"], part: .afterColon)]),
        Program(name: "hey", options: [Option(names: ["-a"], part: .afterColon)]),
        Program(name: "ab", options: [Option(names: ["-A", "-P"], part: .afterColon)]),
        Program(name: "wscat", options: [Option(names: ["--auth"], part: .afterColon)]),
        Program(name: "websocat", options: [Option(names: ["--basic-auth"], part: .afterColon)]),
        Program(name: "ngrok", options: [Option(names: ["--basic-auth"], part: .afterColon)]),
        Program(name: "skopeo", options: Self.credentials), Program(name: "podman", options: Self.credentials),
        Program(name: "buildah", options: Self.credentials), Program(name: "oras", options: Self.credentials),
        Program(name: "ctr", options: [Option(names: ["-u", "--user"], part: .afterColon)]),
        Program(name: "etcdctl", options: [Option(names: ["--user"], part: .afterColon)]),
        Program(name: "twine", options: [Option(names: ["-p"])]),
        Program(name: "poetry", options: [Option(names: ["-p"])], command: "publish"),
        Program(name: "hatch", options: [Option(names: ["-a", "--auth"])], command: "publish"),
        Program(name: "uv", options: [Option(names: ["-t"], kind: "token")], command: "publish"),
        Program(name: "dotnet", options: [Option(names: ["-k", "-p"], isAttached: false)], command: "nuget"),
        Program(name: "keytool", options: Self.stores), Program(name: "jarsigner", options: Self.stores),
        Program(name: "plink", options: [Option(names: ["-pw"])]), Program(name: "pscp", options: [Option(names: ["-pw"])]),
        Program(name: "psftp", options: [Option(names: ["-pw"])]), Program(name: "putty", options: [Option(names: ["-pw"])]),
        Program(name: "mqtt", options: [Option(names: ["-pw"])]), Program(name: "rdesktop", options: [Option(names: ["-p"])]),
        Program(name: "isql", options: [Option(names: ["-P"])]), Program(name: "osql", options: [Option(names: ["-P"])]),
        Program(name: "cqlsh", options: [Option(names: ["-p"])]), Program(name: "cypher-shell", options: [Option(names: ["-p"])]),
        Program(name: "beeline", options: [Option(names: ["-p"])]), Program(name: "influx", options: [Option(names: ["-t", "-password"])]),
        Program(name: "ldappasswd", options: [Option(names: ["-s", "-a", "-w"])]),
        Program(name: "useradd", options: [Option(names: ["-p"])]), Program(name: "usermod", options: [Option(names: ["-p"])]),
        Program(name: "knife", options: [Option(names: ["-P"])]),
        Program(name: "security", options: [Option(names: ["-w", "-p", "-P"], isAttached: false)]),
        Program(name: "xcrun", options: [Option(names: ["-p"], isAttached: false)]),
        Program(name: "doctl", options: Self.accessToken), Program(name: "fly", options: Self.accessToken),
        Program(name: "flyctl", options: Self.accessToken), Program(name: "vercel", options: Self.accessToken),
        Program(name: "codecov", options: Self.accessToken), Program(name: "k6", options: Self.accessToken, command: "login"),
        Program(name: "glab", options: Self.accessToken, command: "login"), Program(name: "twilio", options: Self.accessToken),
        Program(name: "netlify", options: [Option(names: ["-a", "--auth"], kind: "token")]),
        Program(name: "gh", options: [Option(names: ["-b", "--body"], kind: "secret")], command: "secret"),
        Program(name: "az", options: [Option(names: ["--value"], kind: "secret")], command: "secret"),
        Program(name: "ssh-keygen", options: [Option(names: ["-N", "-P"])]),
        Program(name: "pdftotext", options: [Option(names: ["-upw", "-opw"])]),
        Program(name: "steghide", options: [Option(names: ["-p"])]), Program(name: "veracrypt", options: [Option(names: ["-p"])]),
        Program(name: "hydra", options: [Option(names: ["-p"])]), Program(name: "nxc", options: [Option(names: ["-p"])]),
        Program(name: "crackmapexec", options: [Option(names: ["-p"])]),
        Program(name: "psexec", options: [Option(names: ["-p"], isAttached: false)]),
        Program(name: "evil-winrm", options: [Option(names: ["-p"])]),
        Program(name: "winexe", options: [Option(names: ["-U"], part: .afterPercent)]),
        Program(name: "swift", options: [Option(names: ["-K"])]), Program(name: "openstack", options: [Option(names: ["--os-token"])]),
        Program(name: "ncftp", isPrefix: true, options: [Option(names: ["-p"])]),
        Program(name: "mysql", isPrefix: true, options: [Option(names: ["-p"], isSeparate: false)]),
        Program(name: "mariadb", isPrefix: true, options: [Option(names: ["-p"], isSeparate: false)]),
        Program(name: "sshpass", options: [Option(names: ["-p"])], endsAfterPassword: true),
        Program(name: "redis-cli", options: [Option(names: ["-a", "--pass"])]),
        Program(name: "ldap", isPrefix: true, options: [Option(names: ["-w"])]),
        Program(name: "mongo", isPrefix: true, options: [Option(names: ["-p"])]),
        Program(name: "sqlcmd", options: [Option(names: ["-P"])]), Program(name: "bcp", options: [Option(names: ["-P"])]),
        Program(name: "tsql", options: [Option(names: ["-P"])]),
        Program(name: "smbclient", options: [Option(names: ["-U", "--user"], part: .afterPercent)]),
        Program(name: "rpcclient", options: [Option(names: ["-U", "--user"], part: .afterPercent)]),
        Program(
            name: "openssl",
            options: [
                Option(names: ["-passin", "-passout", "-pass"], part: .afterPass, isAttached: false),
                Option(names: ["-k"], isAttached: false),
            ]),
        Program(name: "htpasswd", options: [], lastWordAfterFlag: UInt8(ascii: "b")),
        Program(name: "unzip", options: [Option(names: ["-P"])]), Program(name: "zip", options: [Option(names: ["-P"])]),
        Program(name: "7z", isPrefix: true, options: [Option(names: ["-p"], isSeparate: false)]),
        Program(name: "unrar", options: [Option(names: ["-p", "-hp"], isSeparate: false)]),
        Program(name: "rar", options: [Option(names: ["-p", "-hp"], isSeparate: false)]),
        Program(name: "mosquitto_", isPrefix: true, options: [Option(names: ["-P"])]),
        Program(name: "rabbitmqadmin", options: [Option(names: ["-p"])]),
        Program(name: "ipmitool", options: [Option(names: ["-P"])]),
        Program(name: "snmp", isPrefix: true, options: [Option(names: ["-A", "-X", "-c"])]),
        Program(name: "lftp", options: [Option(names: ["-u"], part: .afterComma)]),
    ]

    private static let credentials = [Option(names: ["--creds", "--src-creds", "--dest-creds"], part: .afterColon)]
    private static let stores = [
        Option(names: ["-storepass", "-keypass", "-srcstorepass", "-deststorepass", "-srckeypass", "-destkeypass"])
    ]
    private static let accessToken = [Option(names: ["-t"], kind: "token")]
    private static let httpie = [Option(names: ["-a", "--auth"], part: .afterColonOrToken)]

    /// `docker login -p X`, `podman`, `helm registry`, `az` and others.
    private static let login = Program(name: "login", options: [Option(names: ["-p"]), Option(names: ["-t"], kind: "token")])

    /// The first bytes of program names.
    private static let firsts: [Bool] = {
        var firsts = [Bool](repeating: false, count: 256)
        for program in Self.programs + [Self.login] { firsts[Int(program.name.utf8Start[0])] = true }
        return firsts
    }()

    // MARK: The command around a flag

    /// The passwords of the command with a flag at an offset. Empty if its words were read for an earlier flag.
    ///
    /// - Parameter flag: the offset of the hyphen, not before that of an earlier call.
    mutating func passwords(flagAt flag: Int) -> [Password] {
        self.follow(to: flag)
        guard let (program, start) = self.program, start != self.readProgram else { return [] }
        self.readProgram = start
        return self.passwords(of: program, at: start)
    }

    /// Looks for programs and the ends of commands up to a flag.
    private mutating func follow(to flag: Int) {
        var offset = self.position
        if flag - offset > Self.reach {
            offset = flag - Self.reach
            self.program = nil
        }
        self.looked += max(0, flag - offset)
        while offset < flag {
            let byte = self.text.bytes[offset]
            if byte == 10 || byte == UInt8(ascii: ";") || byte == UInt8(ascii: "|") {
                if byte != 10 || !self.isContinued(offset) { self.program = nil }
            } else if Self.firsts[Int(byte)], offset == 0 || !SecretShape.Alphabet.word.contains(self.text.bytes[offset - 1]),
                let program = self.program(at: offset)
            {
                self.program = (program, offset)
            }
            offset += 1
        }
        self.position = max(self.position, flag)
    }

    /// Whether the command continues after a line end: after a backslash, or in a list.
    private func isContinued(_ offset: Int) -> Bool {
        let last = self.text.byte(self.text.skipSpaceBack(offset) - 1)
        return last == UInt8(ascii: "\\") || last == UInt8(ascii: ",") || last == UInt8(ascii: "[")
    }

    private func program(at offset: Int) -> Program? {
        let first = self.text.bytes[offset]
        if let program = Self.programs.first(where: {
            $0.name.utf8Start[0] == first && self.begins($0.name, offset) && self.endsName($0, offset)
        }) {
            return program
        }
        return self.begins(Self.login.name, offset) && self.endsName(Self.login, offset) ? Self.login : nil
    }

    private func begins(_ name: StaticString, _ offset: Int) -> Bool {
        offset + name.utf8CodeUnitCount <= self.text.bytes.count
            && (0..<name.utf8CodeUnitCount).allSatisfy { self.text.bytes[offset + $0] == name.utf8Start[$0] }
    }

    /// Whether a blank or a quote follows a program's name.
    private func endsName(_ program: Program, _ start: Int) -> Bool {
        var end = start + program.name.utf8CodeUnitCount
        if program.isPrefix {
            while end - start < 32, let byte = self.text.byte(end), SecretShape.Alphabet.word.contains(byte) { end += 1 }
        }
        if self.begins(".exe", end) { end += 4 }
        guard let byte = self.text.byte(end) else { return false }
        return byte <= 32 || self.text.isQuote(byte)
    }

    // MARK: Words

    private mutating func passwords(of program: Program, at start: Int) -> [Password] {
        var found: [Password] = []
        var words = Words(self.text, from: start, limit: Self.lengthLimit)
        guard words.next() != nil else { return [] }
        var last: Range<Int>?
        var hasFlag = false
        var isOfCommand = program.command == nil
        for _ in 0..<Self.wordLimit {
            guard let word = words.next() else { break }
            self.looked += word.count
            // Another command, as in `sudo sshpass -p X mysql -pY`. Its own flags lead to it.
            let isCommand = program.command.map { word.count == $0.utf8CodeUnitCount && self.begins($0, word.lowerBound) } ?? false
            if !isCommand, self.program(at: word.lowerBound) != nil { break }
            guard self.text.bytes[word.lowerBound] == UInt8(ascii: "-") else {
                last = word
                if let command = program.command, word.count == command.utf8CodeUnitCount {
                    isOfCommand = isOfCommand || self.begins(command, word.lowerBound)
                }
                continue
            }
            if let letter = program.lastWordAfterFlag, self.text.bytes[word].contains(letter) { hasFlag = true }
            guard isOfCommand, let (option, value) = self.value(of: word, program, &words) else { continue }
            if self.program(at: value.lowerBound) != nil { break }
            guard let password = self.password(option, value) else { continue }
            found.append(password)
            if program.endsAfterPassword { return found }
        }
        if hasFlag, let last { found.append(Password(range: last)) }
        return found
    }

    /// The value of one of the program's options, in the word itself or the next one.
    private func value(of word: Range<Int>, _ program: Program, _ words: inout Words) -> (Option, Range<Int>)? {
        for option in program.options {
            for name in option.names where self.begins(name, word.lowerBound) {
                let end = word.lowerBound + name.utf8CodeUnitCount
                if end == word.upperBound {
                    // `-p'X'` is one word, too.
                    let isQuoted = option.isAttached && self.text.isQuote(self.text.byte(end))
                    return option.isSeparate || isQuoted ? words.next().map { (option, $0) } : nil
                }
                if name.utf8CodeUnitCount > 2, option.isSeparate {
                    if self.text.bytes[end] == UInt8(ascii: "=") { return (option, end + 1..<word.upperBound) }
                } else if option.isAttached {
                    return (option, end..<word.upperBound)
                }
            }
        }
        guard program.flags.utf8CodeUnitCount > 0 else { return nil }
        // `-sSu X` and `-sSuX`
        let flags = UnsafeBufferPointer(start: program.flags.utf8Start, count: program.flags.utf8CodeUnitCount)
        guard let letter = word.dropFirst().first(where: { !flags.contains(self.text.bytes[$0]) }), letter > word.lowerBound + 1 else {
            return nil
        }
        for option in program.options
        where option.names.contains(where: { $0.utf8CodeUnitCount == 2 && $0.utf8Start[1] == self.text.bytes[letter] }) {
            if letter + 1 == word.upperBound { return words.next().map { (option, $0) } }
            return (option, letter + 1..<word.upperBound)
        }
        return nil
    }

    private func password(_ option: Option, _ value: Range<Int>) -> Password? {
        var password = Password(range: value, kind: option.kind)
        switch option.part {
        case .all: break
        case .cookies: password.isCookie = true
        case .afterColon, .afterPercent, .afterComma:
            let mark = option.part == .afterColon ? UInt8(ascii: ":") : option.part == .afterComma ? UInt8(ascii: ",") : UInt8(ascii: "%")
            if let range = self.after(mark, value) {
                password.range = range
            } else if option.part == .afterColon, value.count > 1, self.text.bytes[value.upperBound - 1] == mark {
                // A key as the user, with an empty password.
                password = Password(range: value.lowerBound..<value.upperBound - 1, kind: "api-key")
                guard NamedValue.looksLikeToken(UnsafeRawBufferPointer(rebasing: self.text.bytes[password.range])) else { return nil }
            } else {
                return nil
            }
        case .afterColonOrToken:
            if let range = self.after(UInt8(ascii: ":"), value) {
                password.range = range
            } else if !NamedValue.looksLikeToken(UnsafeRawBufferPointer(rebasing: self.text.bytes[value])) {
                return nil
            }
        case .afterPass:
            guard self.begins("pass:", value.lowerBound), value.count > 5 else { return nil }
            password.range = value.lowerBound + 5..<value.upperBound
        }
        return password
    }

    private func after(_ mark: UInt8, _ word: Range<Int>) -> Range<Int>? {
        // A placeholder contains a colon.
        let user = Placeholder.length(in: self.text.bytes, at: word.lowerBound) ?? 0
        guard let offset = word.dropFirst(user).first(where: { self.text.bytes[$0] == mark }), offset + 1 < word.upperBound else {
            return nil
        }
        return offset + 1..<word.upperBound
    }

    /// `--NAME VALUE`, `--NAME=VALUE` and `"--NAME", "VALUE"`.
    func option(at start: Int) -> (name: Range<Int>, value: Range<Int>)? {
        guard start == 0 || self.text.bytes[start - 1] <= 32 || self.text.isQuote(self.text.bytes[start - 1]) else { return nil }
        var end = start + 2
        while end < self.text.bytes.count, end - start <= SecretNames.lengthLimit,
            FormSpelling.isAlphanumeric(self.text.bytes[end]) || self.text.bytes[end] == UInt8(ascii: "-")
                || self.text.bytes[end] == UInt8(ascii: "_")
        { end += 1 }
        guard end > start + 2, let next = self.text.byte(end) else { return nil }
        let name = start + 2..<end
        if next == UInt8(ascii: "=") {
            // `--NAME="X"`
            let isQuoted = self.text.isQuote(self.text.byte(end + 1))
            var words = Words(self.text, from: end + 1, limit: Self.lengthLimit)
            guard let value = words.next(), isQuoted || value.lowerBound == end + 1 else { return nil }
            return (name, value)
        }
        guard next <= 32 || self.text.isQuote(next) else { return nil }
        var words = Words(self.text, from: next > 32 && start > 0 ? start - 1 : start, limit: Self.lengthLimit)
        guard let word = words.next(), word.upperBound == end, let value = words.next() ?? self.nextElement(end),
            self.text.bytes[value.lowerBound] != UInt8(ascii: "-")
        else { return nil }
        return (name, value)
    }

    /// The element of a YAML list on the line after a word.
    private func nextElement(_ end: Int) -> Range<Int>? {
        var offset = end
        if self.text.isQuote(self.text.byte(offset)) { offset += 1 }
        offset = self.text.skipBlanks(offset)
        if self.text.byte(offset) == 13 { offset += 1 }
        guard self.text.byte(offset) == 10 else { return nil }
        offset = self.text.skipBlanks(offset + 1)
        guard self.text.byte(offset) == UInt8(ascii: "-"), self.text.byte(offset + 1) == 32 else { return nil }
        var words = Words(self.text, from: offset + 2, limit: Self.lengthLimit)
        return words.next()
    }

    /// The words of a command, without their quotes, up to the end of the line. A backslash at the end continues on the next line. Quoted
    /// words may be separated by commas, and then also by line ends, as in a list.
    struct Words {
        private let text: SurveyText
        private var offset: Int
        private let end: Int
        /// Whether each word is quoted separately, including the first one.
        private var isList: Bool

        init(_ text: SurveyText, from start: Int, limit: Int) {
            self.text = text
            self.offset = start
            self.end = min(text.bytes.count, start + limit)
            self.isList = text.isQuote(text.byte(start))
            if !self.isList {
                // `"/usr/bin/curl", "-u"`
                var last = start
                while last < self.end, SecretShape.Alphabet.word.contains(text.bytes[last]) { last += 1 }
                let comma = text.skipSpace(last + 1)
                self.isList =
                    text.isQuote(text.byte(last)) && text.byte(comma) == UInt8(ascii: ",")
                    && text.byte(text.skipSpace(comma + 1)) == text.byte(last)
            }
        }

        mutating func next() -> Range<Int>? {
            self.skipBlanks()
            guard self.offset < self.end else { return nil }
            let first = self.text.bytes[self.offset]
            // The end of the command, or of the surrounding text.
            guard first > 32, !";|&<>`)]}".utf8.contains(first) else { return nil }
            if self.text.isQuote(first) {
                let start = self.offset + 1
                var end = start
                while end < self.end, self.text.bytes[end] != first, self.text.bytes[end] != 10 { end += 1 }
                guard end < self.end, end > start, self.text.bytes[end] == first else { return nil }
                self.offset = end + 1
                self.skipComma()
                return start..<end
            }
            let start = self.offset
            while self.offset < self.end, self.text.bytes[self.offset] > 32, !self.text.isQuote(self.text.bytes[self.offset]),
                !";|<>`\\".utf8.contains(self.text.bytes[self.offset])
            { self.offset += 1 }
            guard self.offset > start else { return nil }
            let word = start..<self.offset
            if self.isList, self.text.isQuote(self.text.byte(self.offset)) {
                // The first word, whose opening quote is before the offset at which reading began.
                self.offset += 1
                self.skipComma()
            } else if self.text.isQuote(self.text.byte(self.offset)), self.text.byte(word.lowerBound - 1).map({ $0 <= 32 }) ?? false {
                // The end of the text around the command; `-p"X"` continues.
                self.offset = self.isEndOfText(self.offset) ? self.end : self.offset
            }
            return word
        }

        private mutating func skipBlanks() {
            while self.offset < self.end {
                let byte = self.text.bytes[self.offset]
                if byte == UInt8(ascii: "\\"), let next = self.text.byte(self.offset + 1), next == 10 || next == 13 {
                    self.offset += next == 13 ? 3 : 2
                } else if byte == 32 || byte == 9 {
                    self.offset += 1
                } else {
                    break
                }
            }
        }

        /// Whether a quote ends a string of JSON or of a program.
        private func isEndOfText(_ quote: Int) -> Bool {
            guard let next = self.text.byte(self.text.skipSpace(quote + 1)) else { return true }
            return ",:;)]}".utf8.contains(next)
        }

        /// Skips a comma between quotes, and the blanks and line ends around it.
        private mutating func skipComma() {
            guard self.isList else { return }
            let comma = self.text.skipSpace(self.offset)
            guard self.text.byte(comma) == UInt8(ascii: ",") else { return }
            let next = self.text.skipSpace(comma + 1)
            if self.text.isQuote(self.text.byte(next)) { self.offset = next }
        }
    }

    // MARK: .netrc

    /// The word after `password ` in an entry of a .netrc file (`machine h login u password X`), on one line or on several.
    ///
    /// - start: the beginning of `password`.
    /// - end: the offset after it.
    func passwordOfEntry(_ start: Int, _ end: Int) -> Range<Int>? {
        // It is preceded by pairs of words, and `machine` with a name, or `default`.
        var words: [Range<Int>] = []
        var offset = start
        let least = max(0, start - Self.reach)
        while offset > least, words.count < 8 {
            while offset > least, self.text.bytes[offset - 1] <= 32 { offset -= 1 }
            let last = offset
            while offset > least, self.text.bytes[offset - 1] > 32, !"\"'<>{}".utf8.contains(self.text.bytes[offset - 1]) { offset -= 1 }
            guard offset < last else { break }
            words.append(offset..<last)
        }
        func isWord(_ index: Int, _ word: StaticString) -> Bool {
            index < words.count && words[index].count == word.utf8CodeUnitCount && self.text.isWord(word, endingAt: words[index].upperBound)
        }
        var index = 0
        while isWord(index + 1, "login") || isWord(index + 1, "account") || isWord(index + 1, "port") { index += 2 }
        guard isWord(index, "default") || isWord(index + 1, "machine") else { return nil }
        var value = self.text.skipSpace(end)
        let isQuoted = self.text.byte(value) == UInt8(ascii: "\"")
        if isQuoted { value += 1 }
        var last = value
        let most = min(self.text.bytes.count, value + Self.lengthLimit)
        while last < most, self.text.bytes[last] > 32, !"\"<\\".utf8.contains(self.text.bytes[last]) { last += 1 }
        return last > value ? value..<last : nil
    }
}
