/// Names of fields, members, parameters and parts whose values are secrets, and the placeholder kinds for them.
///
/// Names are compared ignoring case, `_`, `-` and `.`: `access_token`, `accessToken` and `Access-Token` are equal.
package enum SecretNames {
    /// Whether a value under this name must not be shown, whatever it is. Excludes names that indicate a secret only in company or by their
    /// value.
    package static func hides(_ name: some Sequence<UInt8>) -> Bool {
        guard let meaning = self.meaning(ofHeader: name) ?? self.meaning(ofMember: name) else { return false }
        return !meaning.needsCompany && !meaning.needsKeyShape
    }

    /// Whether a header field of this name holds credentials in all likelihood, whatever its value is.
    package static func holdsCredentials(_ field: some Collection<UInt8>) -> Bool {
        self.hides(field) || self.meaning(ofField: field) != nil
    }

    struct Meaning: Sendable, Hashable {
        var kind: String
        /// Only applies next to other parameters of OAuth, since the name has other meanings elsewhere.
        var needsCompany = false
        /// Only applies to a value that looks like a key.
        var needsKeyShape = false
        /// A plural name: `tokens` are usually words that are counted, and `passwords` an object of names and values.
        var isPlural = false
        /// The name is also an everyday word (`pass`): words, short numbers and sentences under it are not secrets.
        var isEveryday = false
        /// The name merely ends with a secret's name, like `spring.datasource.password`, so the value must also look like a secret.
        var isCompound = false
        /// The name is also that of the working directory (`PWD`), whose value is a path.
        var mayBeFolder = false
        /// False if values may be everyday words.
        var isSure = true
        /// Whether a user's rule refers to the place.
        var isRuled = false
        /// The value is the words of a wallet (BIP 39), or looks like a key. The name also has other meanings.
        var isPhrase = false
        /// The value follows an authentication scheme, so it is not a word.
        var followsScheme = false
        /// Which part of the value is secret.
        var syntax = Syntax.value
    }

    enum Syntax: Sendable, Hashable {
        /// The whole value.
        case value
        /// The part after the scheme (RFC 9110, 11.6.2).
        case credentials
        /// The values of cookies (RFC 6265, 4).
        case cookie, setCookie
    }

    /// The longest name that is looked up.
    static let lengthLimit = 64

    /// The meaning of a value under this name; nil for other names.
    static func meaning(of name: some Sequence<UInt8>) -> Meaning? {
        guard let (hash, _) = self.fold(name), self.mayBeKnown(hash) else { return nil }
        return self.known(hash, name)
    }

    /// The meaning of a name in the table. Only the variable `PWD`, in capitals, is a folder.
    private static func known(_ hash: UInt64, _ name: some Sequence<UInt8>) -> Meaning? {
        guard var meaning = self.byHash[hash] else { return nil }
        if meaning.mayBeFolder { meaning.mayBeFolder = name.allSatisfy { $0 >= 65 && $0 <= 90 } }
        return meaning
    }

    /// For JSON members, lines of settings and pairs, which may also hold a header field.
    static func meaning(ofMember name: some Sequence<UInt8>) -> Meaning? {
        guard let (hash, _) = self.fold(name), self.mayBeKnown(hash) else { return nil }
        return self.known(hash, name) ?? self.cookiesByHash[hash]
    }

    /// The meaning of a value whose name ends with a secret's name after a dot, hyphen or underscore, or from a capital on
    /// (`spring.datasource.password`, `smtp_password`, `githubApiKey`). Nil for the secret's name alone.
    ///
    /// The names of page tokens also end like this (`nextPageToken`), so `token` and similar names require the word before them to match as
    /// well.
    static func meaning(ofCompound name: Slice<UnsafeRawBufferPointer>) -> Meaning? {
        guard name.count > 4 else { return nil }
        var words = 0
        var offset = name.endIndex - 1
        while offset > name.startIndex, words < 2 {
            let byte = name[offset]
            let isMark = byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            let before = name[offset - 1]
            // After a mark, the mark begins the word.
            let isCapital = byte >= 65 && byte <= 90 && (before >= 97 && before <= 122 || before >= 48 && before <= 57)
            if isMark || isCapital {
                words += 1
                if let (hash, _) = self.fold(name[(isMark ? offset + 1 : offset)...]), self.mayBeKnown(hash),
                    var meaning = self.endingsByHash[hash]
                {
                    meaning.isCompound = true
                    return meaning
                }
            }
            offset -= 1
        }
        return nil
    }

    private static let endingsByHash: [UInt64: Meaning] = {
        var table: [UInt64: Meaning] = [:]
        for name in [
            "password", "passwords", "passwd", "pwd", "pswd", "kennwort", "passwort", "pass", "passphrase", "secret", "apikey", "accesskey",
            "secretkey", "privatekey", "accesstoken",
            "refreshtoken", "authtoken", "apitoken", "bearertoken", "clientsecret", "consumersecret", "appsecret", "sharedsecret",
            "signingsecret", "webhooksecret", "encryptionkey", "masterkey", "signingkey", "accountkey", "connectionstring", "csrftoken",
            "xsrftoken", "authenticitytoken", "requestverificationtoken",
        ] {
            if let (hash, _) = Self.fold(name.utf8) { table[hash] = Self.byHash[hash] }
        }
        return table
    }()

    /// Whether a value is itself one of the names, as in labels and programs.
    static func isName(_ value: some Sequence<UInt8>) -> Bool { self.meaning(ofMember: value) != nil }

    /// For header fields: the other names, and those of vendors.
    static func meaning(ofHeader name: some Sequence<UInt8>) -> Meaning? {
        guard let (hash, startsWithX) = self.fold(name) else { return nil }
        if self.mayBeKnown(hash), let meaning = self.headersByHash[hash] ?? self.byHash[hash] { return meaning }
        if startsWithX, let (rest, _) = self.fold(name.dropFirst()), let meaning = self.byHash[rest] { return meaning }
        return self.meaning(ofEnding: name)
    }

    /// Recognises `X-Acme-Api-Key` and the like by the usual endings of vendors' names.
    private static func meaning(ofEnding name: some Sequence<UInt8>) -> Meaning? {
        // Rules out most names by their last letter.
        var final: UInt8 = 0
        for byte in name where byte != UInt8(ascii: "_") && byte != UInt8(ascii: "-") && byte != UInt8(ascii: ".") { final = byte | 32 }
        guard self.finals.contains(final) else { return nil }
        let letters = name.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ".") }.map { $0 | 32 }
        return self.endings.first { letters.count > $0.bytes.count && letters.suffix($0.bytes.count).elementsEqual($0.bytes) }
            .map { Meaning(kind: $0.kind) }
    }

    /// The meaning of the value of a header field whose name ends with the word `Token` or `Key` (`X-Acme-Token`, `X-Acme-Key`). Nil for
    /// names of fields whose values are not secret: positions in a list, keys of caches and databases, nonces.
    ///
    /// The value has to look like a token, for `Key` like a key.
    static func meaning(ofField name: some Collection<UInt8>) -> Meaning? {
        guard name.count <= Self.lengthLimit else { return nil }
        let words = name.split { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        guard words.count > 1, let last = words.last, last.count <= 5 else { return nil }
        let meaning: Meaning
        switch String(decoding: last, as: UTF8.self).lowercased() {
        case "token", "jwt": meaning = Meaning(kind: "token", needsKeyShape: true, isPlural: true)
        case "key": meaning = Meaning(kind: "api-key", needsKeyShape: true)
        default: return nil
        }
        return words.contains { Self.openWords.contains(String(decoding: $0, as: UTF8.self).lowercased()) } ? nil : meaning
    }

    /// The meaning of a value whose name ends with the word `token` (`mfa_token`, `bootstrapToken`). Nil for the names of positions in a list
    /// and the like. The value has to look like a key.
    static func meaning(ofToken name: Slice<UnsafeRawBufferPointer>) -> Meaning? {
        guard name.count > 6, name.count <= Self.lengthLimit,
            name.suffix(4).elementsEqual("oken".utf8) || name.suffix(4).elementsEqual("OKEN".utf8)
        else { return nil }
        var words: [String] = []
        var word = ""
        var isSmall = false
        for byte in name {
            let isMark = byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
            if isMark || isSmall && byte >= 65 && byte <= 90 {
                words.append(word)
                word = ""
            }
            isSmall = byte >= 97 && byte <= 122
            if !isMark { word.unicodeScalars.append(Unicode.Scalar(byte)) }
        }
        words = (words + [word]).map { $0.lowercased() }
        guard words.count > 1, words.last == "token", Self.openWords.union(Self.positions).isDisjoint(with: words) else { return nil }
        return Meaning(kind: "token", needsKeyShape: true)
    }

    /// Further words in the names of tokens that are not secret.
    private static let positions: Set<String> = [
        "starting", "from", "until", "version", "concurrency", "fencing", "revision", "watch", "checkpoint", "marker", "position", "offset",
        "history", "increment", "transaction", "max", "min", "total", "eos", "bos", "pad", "unk", "mask", "color", "theme", "design",
        "after",
        "before", "last", "first", "initial", "list", "nextpage", "search", "query", "session",
    ]

    /// Words in the names of fields with a token or key that is not secret.
    private static let openWords: Set<String> = [
        "page", "pages", "paging", "pagination", "continuation", "continue", "sync", "delta", "lock", "next", "prev", "previous", "cursor",
        "start", "skip", "skiptoken", "scroll", "change", "resume", "cancel", "cancellation", "etag", "consistency", "snapshot", "lsn",
        "idempotency", "cache", "surrogate", "partition", "websocket", "sort", "routing", "object", "public", "group", "row", "range",
        "dedup", "deduplication", "message", "trace", "request", "correlation", "batch", "lookup", "order", "shard", "hash", "host",
        "bucket", "storage", "primary", "foreign", "sec", "vapid", "allow", "expose", "accept", "tracking", "feature", "translation",
    ]

    private static let endings: [(kind: String, bytes: [UInt8])] = [
        ("api-key", "apikey"), ("api-key", "accesskey"), ("access_token", "accesstoken"), ("refresh_token", "refreshtoken"),
        ("id_token", "idtoken"), ("token", "authtoken"), ("token", "apitoken"), ("token", "bearertoken"), ("token", "usertoken"),
        ("session", "sessiontoken"), ("secret", "secretkey"), ("secret", "apisecret"), ("client_secret", "clientsecret"),
        ("password", "password"), ("csrf-token", "csrftoken"), ("csrf-token", "xsrftoken"),
        ("secret", "secret"),
    ].map { ($0.0, Array($0.1.utf8)) }

    private static let finals = Set(Self.endings.compactMap(\.bytes.last))

    /// The meaning of the value of an environment variable, by the ending of its name (`PGPASSWORD`, `GITHUB_TOKEN`).
    static func meaning(ofVariable name: some Collection<UInt8>) -> Meaning? {
        guard name.count >= 6, name.allSatisfy({ $0 >= 65 && $0 <= 90 || $0 >= 48 && $0 <= 57 || $0 == UInt8(ascii: "_") }) else {
            return nil
        }
        return self.variables.first { name.count > $0.ending.count && name.suffix($0.ending.count).elementsEqual($0.ending) }.map {
            Meaning(kind: $0.kind)
        }
    }

    private static let variables: [(kind: String, ending: [UInt8])] = [
        ("password", "PASSWORD"), ("password", "PASSWD"), ("password", "_PWD"), ("password", "PSWD"),
        ("password", "KENNWORT"), ("password", "PASSWORT"), ("password", "_PASS"), ("password", "_PASSPHRASE"),
        ("token", "_TOKEN"),
        ("secret", "_SECRET"), ("api-key", "API_KEY"), ("api-key", "APIKEY"), ("secret", "SECRET_KEY"), ("api-key", "ACCESS_KEY"),
        ("secret", "PRIVATE_KEY"), ("secret", "ENCRYPTION_KEY"), ("password", "REDISCLI_AUTH"), ("password", "MYSQL_PWD"),
    ].map { ($0.0, Array($0.1.utf8)) }

    /// FNV-1a of the letters and digits. Within the tables, equal hashes mean equal names (their tests check this). A name with a colliding
    /// hash would have its value redacted.
    private static func fold(_ name: some Sequence<UInt8>) -> (hash: UInt64, startsWithX: Bool)? {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        var count = 0
        var first: UInt8 = 0
        for byte in name {
            if byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") { continue }
            let folded = byte >= 65 && byte <= 90 ? byte | 32 : byte
            if count == 0 { first = folded }
            count += 1
            guard count <= Self.lengthLimit else { return nil }
            hash = (hash ^ UInt64(folded)) &* 0x100_0000_01b3
        }
        return count == 0 ? nil : (hash, first == UInt8(ascii: "x"))
    }

    /// Rules out most unknown names by one bit of their hash, since a dictionary would hash it again.
    private static func mayBeKnown(_ hash: UInt64) -> Bool { self.knownBits[Int(hash >> 6 & 63)] >> (hash & 63) & 1 == 1 }

    private static let knownBits: [UInt64] = {
        var bits = [UInt64](repeating: 0, count: 64)
        for hash in [Self.byHash, Self.headersByHash, Self.cookiesByHash].flatMap(\.keys) { bits[Int(hash >> 6 & 63)] |= 1 << (hash & 63) }
        return bits
    }()

    /// The meaning of a name that is found only before a long value, since its last letters are those of many names. Nil for all others.
    static func meaning(beforeRun name: Slice<UnsafeRawBufferPointer>) -> Meaning? {
        guard let (hash, _) = self.fold(name), self.mayBeKnown(hash), self.beforeRuns.contains(hash) else { return nil }
        return self.byHash[hash]
    }

    private static let beforeRuns = Set(
        ([("session", ["sessionid"])] + Self.rare).flatMap(\.names).filter { $0 != "secretbinary" }.compactMap { Self.fold($0.utf8)?.hash })

    private static let byHash = Self.table(Self.names + Self.rare)
    private static let headersByHash = Self.table(Self.headers)
    private static let cookiesByHash: [UInt64: Meaning] = {
        var table = Self.table([("cookie", ["cookie", "setcookie", "setcookie2"])])
        for hash in table.keys {
            table[hash]?.syntax = hash == Self.fold("cookie".utf8)?.hash ? .cookie : .setCookie
        }
        return table
    }()

    private static func table(_ names: [(kind: String, names: [String])]) -> [UInt64: Meaning] {
        var table: [UInt64: Meaning] = [:]
        for (kind, names) in names {
            for name in names {
                guard let (hash, _) = self.fold(name.utf8) else { continue }
                var meaning = Meaning(kind: kind)
                meaning.needsCompany = name == "code"
                meaning.needsKeyShape = Self.ambiguous.contains(name)
                meaning.isEveryday = Self.everyday.contains(name)
                meaning.mayBeFolder = name == "pwd" || name == "oldpwd"
                meaning.isSure = !Self.unsure.contains(kind)
                meaning.isPhrase = Self.phrases.contains(name)
                if Self.plurals.contains(name) { (meaning.isPlural, meaning.needsKeyShape) = (true, true) }
                if name.hasSuffix("authorization") { meaning.syntax = .credentials }
                table[hash] = meaning
            }
        }
        return table
    }

    /// Names that also have other meanings; the value decides.
    private static let ambiguous: Set<String> = [
        "key", "sig", "signature", "auth", "session", "ticket", "licensekey", "storagekey", "secretid", "sharedkey", "transactionkey",
        "merchantkey", "userkey", "machinekey", "nodekey", "preauthkey", "sshkey", "unsealkey", "xprv", "hmac", "sessiondata",
        "sessionhandle", "authticket", "authenticationticket", "loginticket", "apihash",
    ]
    private static let everyday: Set<String> = ["pass", "credential", "credentials"]

    private static let plurals: Set<String> = [
        "passwords", "tokens", "secrets", "apikeys", "accesstokens", "refreshtokens", "authtokens", "apitokens", "clientsecrets",
        "privatekeys", "secretkeys", "unsealkeys", "unsealkeysb64", "recoverycodes", "backupcodes", "scratchcodes", "passwordhistory",
        "oldpasswords",
        "previouspasswords",
    ]

    /// Names of the words of a wallet. Their values are always several words.
    static let phrases: Set<String> = [
        "mnemonic", "mnemonicphrase", "mnemonicseed", "mnemonicwords", "seedphrase", "recoveryphrase", "secretrecoveryphrase",
        "backupphrase", "walletphrase", "phrase", "seed", "walletseed", "recoveryseed", "seedwords", "recoverywords", "backupwords",
    ]

    private static let phraseFinals = Set(Self.phrases.compactMap(\.utf8.last))

    /// Whether a name that ends with this letter may be one of `phrases`. Rules out most names.
    static func mayEndPhrase(_ byte: UInt8) -> Bool { Self.phraseFinals.contains(byte | 32) }

    private static let unsure: Set<String> = ["csrf-token", "session", "state"]

    /// Names that apply anywhere, without separators, in lower case. docs/redaction.md gives the source of each.
    ///
    /// A header field needs no entry of its own if it is one of these with `X-` before it, or ends in one of `endings`.
    static let names: [(kind: String, names: [String])] = [
        ("access_token", ["accesstoken", "useraccesstoken", "oauthtoken", "accesstokensecret", "oauthtokensecret", "accesstokens"]),
        ("refresh_token", ["refreshtoken", "refreshtokens"]),
        ("id_token", ["idtoken", "idtokenhint"]),
        (
            "token",
            [
                "token", "authtoken", "authenticationtoken", "apitoken", "bearertoken", "usertoken", "accesstokenvalue", "subjecttoken",
                "actortoken",
                "logintoken", "privatetoken", "clienttoken",
                "resettoken", "passwordresettoken", "resetpasswordtoken", "invitetoken", "activationtoken", "magictoken", "unlocktoken",
                "confirmationtoken", "verificationtoken", "invitationtoken", "jwt", "sharetoken", "downloadtoken", "uploadtoken",
                "unsubscribetoken", "storagetoken", "wstoken", "websockettoken", "identitytoken", "registrytoken",
                "jwttoken", "runnerstoken", "runnertoken", "jointoken", "bottoken", "fcmtoken", "verifytoken", "installationtoken",
                "impersonationtoken", "challengetoken",
                "personalaccesstoken", "deploytoken", "securitytoken", "xamzsecuritytoken", "accountkey", "devicetoken", "pushtoken",
                "registrationtoken", "tokensecret", "tokens", "authtokens", "apitokens", "binarysecuritytoken", "binarysecret", "ticket",
                "authticket", "authenticationticket", "loginticket",
            ]
        ),
        ("client_secret", ["clientsecret", "clientsecrets", "consumersecret", "appsecret", "applicationsecret", "oauthconsumersecret"]),
        (
            "password",
            [
                "password", "passwd", "pwd", "plainpassword", "userpass", "dbpass", "smtppass", "passphrase", "passcode", "newpassword",
                "oldpassword",
                "currentpassword", "userpassword",
                "passwordconfirmation", "confirmpassword", "passwordconfirm", "passwordverify", "password1", "password2", "repeatpassword",
                "passwords", "adminpassword", "dbpassword", "databasepassword", "smtppassword", "proxypassword", "loginpassword",
                "masterpassword", "pass", "mailpass", "adminpass", "rootpass", "loginpass", "sqlpass", "mysqlpass", "pgpass", "ftppass",
                "sshpass", "redispass", "ldappass", "bindpass", "authpass", "proxypass", "newpass", "oldpass", "keypass", "storepass",
                "credential", "credentials", "secretdata", "presharedkey", "passwordhistory", "oldpasswords", "previouspasswords",
                "pswd", "pword", "userpwd", "userpswd", "newpwd", "oldpwd", "confirmpwd", "rootpwd", "dbpwd", "loginpwd",
                // In German, Dutch, Swedish, Norwegian and Danish.
                "kennwort", "passwort", "wachtwoord", "losenord", "passord", "adgangskode",
            ]
        ),
        (
            "secret",
            [
                "secret", "secrets", "privatekeys", "apisecret", "secretkey", "secretaccesskey", "awssecretaccesskey", "signingsecret",
                "signingkey", "webhooksecret",
                "sharedsecret", "privatekey", "privatekeypem", "encryptionkey", "masterkey", "sharedaccesskey", "storageaccountkey",
                "totpsecret",
                "clientkey", "sessionkey", "sessionsecret", "connectionstring", "hmackey", "secretstring", "secretkeys", "recoverycodes",
                "backupcodes", "scratchcodes", "recoverykey", "streamkey", "rtmpkey", "licensekey", "storagekey", "validationkey",
                "decryptionkey", "sharedkey", "transactionkey", "merchantkey", "userkey", "machinekey", "nodekey", "preauthkey", "sshkey",
                "unsealkey", "unsealkeys", "secretkeybase",
            ]
        ),
        (
            "api-key",
            [
                "apikey", "appkey", "applicationkey", "subscriptionkey", "accesskey", "authkey", "serverkey", "xapikey", "hapikey", "key",
                "apikeys",
            ]
        ),
        ("aws-key", ["awsaccesskeyid", "accesskeyid", "xamzcredential"]),
        (
            "session",
            ["sessiontoken", "sessionid", "jsessionid", "phpsessid", "sid", "awssessiontoken", "session", "sessioncookie", "sessiondata"]
        ),
        (
            "assertion",
            ["assertion", "clientassertion", "samlresponse", "samlassertion", "samlrequest", "wresult", "logouttoken", "requesttoken"]
        ),
        (
            "code",
            [
                "code", "codeverifier", "devicecode", "authorizationcode", "authcode", "usercode", "otp", "totp", "otpcode", "mfacode",
                "emailotp", "smsotp", "phoneotp", "onetimecode", "recoverycode",
                "backupcode", "oobcode", "bindingcode", "verificationcode", "pairingcode",
            ]
        ),
        ("csrf-token", ["csrftoken", "xsrftoken", "csrf", "xsrf", "csrfmiddlewaretoken", "authenticitytoken", "requestverificationtoken"]),
        ("signature", ["xamzsignature", "xgoogsignature", "xossignature", "sig", "signature", "oauthsignature", "xgoogcredential"]),
        ("authorization", ["authorization", "proxyauthorization", "auth"]),
    ]

    /// Further names that are found only before the marks that usually follow them (`SurveyTable.rareNames`).
    static let rare: [(kind: String, names: [String])] = [
        ("password", ["psk", "wpapsk", "wifipsk", "passwordhash", "passwordsalt", "securityanswer"] + Self.passwordsInOtherLanguages),
        (
            "secret",
            ["secretbinary", "totpseed", "otpseed", "secretid", "apihash", "xprv", "hmac", "unsealkeysb64"] + Self.phrases.sorted()
        ),
        ("password", ["passworddigest"]), ("session", ["sessionhandle"]),
        // The tokens of Akamai are in queries.
        ("token", ["bearer", "hdnts", "hdnea", "hdntl"]),
    ]

    /// The word for a password in French, Portuguese, Italian and Romanian, Czech and Slovak, Polish, Spanish, Russian, Chinese, Korean and Japanese. Letters outside of ASCII are compared as they are.
    static let passwordsInOtherLanguages = [
        "motdepasse", "senha", "parola", "heslo", "haslo", "hasło", "contraseña", "пароль", "Пароль",
        "密码", "密碼", "비밀번호", "パスワード",
    ]

    /// Vendors' header fields whose names have no meaning elsewhere, without separators, in lower case. For a header field, an entry here
    /// takes precedence over `names`. Values of the kinds in `unsure` may be words, and are not searched for as widely elsewhere.
    static let headers: [(kind: String, names: [String])] = [
        (
            "api-key",
            [
                "xgoogapikey", "ocpapimsubscriptionkey", "xfunctionskey", "xrapidapikey", "xmashapekey", "xalgoliaapikey",
                "xparserestapikey",
                "xparsemasterkey", "ddapikey", "ddapplicationkey", "xhoneycombteam", "xnewreliclicensekey", "fastlykey", "xoctopusapikey",
                "xjfrogartapi", "xtypesenseapikey", "xauthkey", "xauthuserservicekey", "xinsertkey", "xquerykey", "xlicensekey",
                "xdirectline",
                "xapplicationkey", "xapikey", "xreaderkey", "xelsapikey", "xccapikey", "xmoesifapplicationid", "xclickhousekey",
                "xappwritekey", "xairbrakekey",
            ]
        ),
        (
            "token",
            [
                "xvaulttoken", "xgitlabtoken", "privatetoken", "jobtoken", "deploytoken", "xshopifyaccesstoken",
                "xshopifystorefrontaccesstoken",
                "xpostmarkservertoken", "xpostmarkaccounttoken", "xfigmatoken", "xsubjecttoken", "xplextoken", "xconsultoken",
                "xnomadtoken",
                "xforwardedaccesstoken", "cfaccessclientsecret", "cfaccessjwtassertion", "cfaccesstoken", "xamznoidcdata",
                "xamznoidcaccesstoken",
                "xmstokenaadaccesstoken", "xmstokenaadidtoken", "xmstokenaadrefreshtoken", "xmsauthorizationauxiliary", "xdiscourseapikey",
                "xtrackertoken", "xbranchaccesstoken", "xauthtoken", "xidtoken", "xsentrytoken", "xgoogiamauthorizationtoken",
                "xserverlessauthorization", "xcontentfulmanagementtoken", "circletoken", "xcircleci", "xredmineapikey", "travistoken",
                "xsecret", "authorizationtoken", "xgoogiapjwtassertion", "xrecaptcharesponse", "bearer", "xsaucekey", "xfirebaseappcheck",
                "xgoogfirebaseinstallationsauth", "xappwritejwt",
            ]
        ),
        ("password", ["xpin"]), ("code", ["xgithubotp"]),
        (
            "session",
            [
                "xsfdcsession", "xoktasession", "xsessionid", "xsession", "xsessiontoken", "xtransmissionsessionid", "mcpsessionid",
                "vmwareapisessionid",
            ]
        ),
        (
            "signature",
            [
                "xhubsignature", "xhubsignature256", "stripesignature", "xslacksignature", "xtwiliosignature", "xshopifyhmacsha256",
                "xlinesignature", "xsignature", "paypaltransmissionsig", "webhooksignature", "svixsignature",
                "xmailgunsignature", "cbaccesssign", "okaccesssign", "kcapisign", "xbapisign",
                "xlarksignature",
            ]
        ),
        (
            "authorization",
            [
                "xauthorization", "xsentryauth", "xtableauauth", "grpcmetadataauthorization", "xhttpauthorization",
                "xforwardedauthorization", "xoriginalauthorization", "xserverauthorization",
            ]
        ),
        (
            "secret",
            [
                "xamzserversideencryptioncustomerkey", "xamzcopysourceserversideencryptioncustomerkey", "xgoogencryptionkey",
                "xgoogcopysourceencryptionkey", "xmsencryptionkey", "xmssourceencryptionkey", "xtelegrambotapisecrettoken",
                "cbaccesspassphrase", "okaccesspassphrase", "kcapipassphrase",
            ]
        ),
        ("token", ["xembytoken", "xmediabrowsertoken", "xcloudflaretoken", "xregistryauth", "xregistryconfig", "xcredentials"]),
        ("authorization", ["xwsse", "authentication"]), ("csrf-token", ["jenkinscrumb", "xjenkinscrumb", "crumb"]),
        ("client-certificate", ["xforwardedclientcert", "xclientcert", "xsslclientcert"]),
    ]
}
