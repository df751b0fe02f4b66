internal import CassetteModel
internal import TapeBytes

/// A key or token of a vendor, recognised by the prefix that the vendor assigns and by random characters after it, wherever it is in a text.
///
/// The prefixes are too many for anchors of a scan (see `SurveyTable`): they are looked for at the beginnings of long runs of token
/// characters only, which most texts have few of.
struct VendorKey: Sendable {
    enum Alphabet: Sendable {
        case hex, alphanumeric, word, upper, uuid

        @inline(__always)
        func contains(_ byte: UInt8) -> Bool {
            switch self {
            case .hex: byte >= 48 && byte <= 57 || byte >= 97 && byte <= 102
            case .alphanumeric: FormSpelling.isAlphanumeric(byte)
            case .word: FormSpelling.isAlphanumeric(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            case .upper: byte >= 65 && byte <= 90 || byte >= 48 && byte <= 57
            case .uuid: Self.hex.contains(byte) || byte == UInt8(ascii: "-")
            }
        }
    }

    let prefix: [UInt8]
    let alphabet: Alphabet
    /// How many characters follow the prefix.
    let length: ClosedRange<Int>
    /// How many segments of such characters, separated by dots, follow the first one.
    let segments: Int

    private init(_ prefix: String, _ alphabet: Alphabet, _ length: ClosedRange<Int>, segments: Int = 0) {
        self.prefix = Array(prefix.utf8)
        self.alphabet = alphabet
        self.length = length
        self.segments = segments
    }

    /// The longest tail of a token without a fixed length.
    private static let most = 1024

    /// From the vendors' pages, and from the rules of gitleaks and of GitHub's secret scanning for those without a page. Publishable keys
    /// (`pk_live_`, `phc_`) are not secret.
    static let all: [VendorKey] =
        [
            VendorKey("hf_", .alphanumeric, 30...64), VendorKey("api_org_", .alphanumeric, 30...64),
            VendorKey("pypi-AgE", .word, 40...Self.most), VendorKey("rubygems_", .hex, 48...48), VendorKey("CLOJARS_", .hex, 60...60),
            VendorKey("dop_v1_", .hex, 40...64), VendorKey("doo_v1_", .hex, 40...64), VendorKey("dor_v1_", .hex, 40...64),
            VendorKey("SG.", .word, 16...64, segments: 1), VendorKey("key-", .hex, 32...32),
            VendorKey("dckr_pat_", .word, 20...64), VendorKey("dckr_oat_", .word, 20...64), VendorKey("figd_", .word, 30...64),
            VendorKey("glsa_", .word, 40...48), VendorKey("glc_", .word, 40...Self.most), VendorKey("eyJrIjoi", .alphanumeric, 40...512),
            VendorKey("lin_api_", .alphanumeric, 32...64), VendorKey("lin_oauth_", .alphanumeric, 32...80),
            VendorKey("ntn_", .alphanumeric, 40...50), VendorKey("secret_", .alphanumeric, 40...43),
            VendorKey("tskey-", .word, 20...128), VendorKey("AGE-SECRET-KEY-1", .alphanumeric, 40...60),
            VendorKey("ATATT3x", .word, 40...Self.most), VendorKey("ATCTT3x", .word, 40...Self.most),
            VendorKey("ATBB", .alphanumeric, 32...32),
            VendorKey("gsk_", .alphanumeric, 40...64), VendorKey("r8_", .alphanumeric, 37...40), VendorKey("xai-", .alphanumeric, 40...100),
            VendorKey("sk-or-v1-", .hex, 64...64), VendorKey("sk-svcacct-", .word, 40...Self.most),
            VendorKey("sk-admin-", .word, 40...Self.most),
            VendorKey("sk-", .hex, 32...32), VendorKey("sk-", .alphanumeric, 48...48), VendorKey("pplx-", .alphanumeric, 40...64),
            VendorKey("nvapi-", .word, 40...80), VendorKey("esecret_", .alphanumeric, 24...64), VendorKey("fw_", .alphanumeric, 22...24),
            VendorKey("tvly-", .word, 28...64), VendorKey("lsv2_pt_", .word, 40...48), VendorKey("lsv2_sk_", .word, 40...48),
            VendorKey("phx_", .alphanumeric, 40...64), VendorKey("dapi", .hex, 32...40),
            VendorKey("pscale_tkn_", .word, 32...64), VendorKey("pscale_pw_", .word, 32...64), VendorKey("pscale_oauth_", .word, 32...64),
            VendorKey("nfp_", .alphanumeric, 36...64), VendorKey("sntrys_", .word, 40...Self.most), VendorKey("sntryu_", .hex, 64...64),
            VendorKey("sq0atp-", .word, 22...64), VendorKey("sq0csp-", .word, 22...64), VendorKey("EAAA", .word, 60...60),
            VendorKey("EAACEdEose0cBA", .alphanumeric, 20...255), VendorKey("pul-", .hex, 40...40),
            VendorKey("shippo_live_", .hex, 40...40), VendorKey("shippo_test_", .hex, 40...40), VendorKey("SK", .hex, 32...32),
            VendorKey("aio_", .alphanumeric, 28...28), VendorKey("sbp_", .hex, 40...40), VendorKey("sb_secret_", .word, 20...64),
            VendorKey("vercel_blob_rw_", .word, 20...80), VendorKey("PMAK-", .word, 34...80), VendorKey("NRAK-", .alphanumeric, 27...40),
            VendorKey("NRII-", .word, 27...40), VendorKey("NRIQ-", .word, 27...40),
            VendorKey("sdk-", .uuid, 36...36), VendorKey("api-", .uuid, 36...36), VendorKey("sk.eyJ", .word, 20...Self.most, segments: 1),
            VendorKey("CFPAT-", .word, 40...64), VendorKey("rdme_", .alphanumeric, 40...80), VendorKey("tfp_", .alphanumeric, 40...64),
            VendorKey("v1.0-", .word, 100...200), VendorKey("sl.", .word, 60...Self.most), VendorKey("dp.pt.", .alphanumeric, 40...44),
            VendorKey("dp.st.", .word, 40...80), VendorKey("dt0c01.", .upper, 24...24, segments: 1),
            VendorKey("xkeysib-", .word, 64...90), VendorKey("EZAK", .alphanumeric, 54...54), VendorKey("EZTK", .alphanumeric, 54...54),
            VendorKey("ops_eyJ", .word, 100...2 * Self.most), VendorKey("HRKU-", .word, 36...80), VendorKey("y0_", .word, 50...64),
            VendorKey("SWMTKN-1-", .word, 40...100), VendorKey("ek_test_", .alphanumeric, 24...255),
            VendorKey("ek_live_", .alphanumeric, 24...255),
            VendorKey("shpca_", .hex, 32...32), VendorKey("shppa_", .hex, 32...32), VendorKey("shpss_", .hex, 32...32),
        ]
        + ["glrt-", "gldt-", "glptt-", "glft-", "glsoat-", "glcbt-", "glimt-", "glagent-", "gloas-"].map {
            VendorKey($0, .word, 20...64)
        } + ["production", "sandbox"].map { VendorKey("access_token$\($0)$", .alphanumeric, 16...64) }

    /// By the byte with which the run of token characters begins, the keys and how many characters of their prefix are before the run.
    private static let byFirst: [[(key: VendorKey, before: Int)]] = {
        var table = [[(key: VendorKey, before: Int)]](repeating: [], count: 256)
        for key in Self.all {
            // A run begins after the last dot or dollar sign.
            let before = key.prefix.lastIndex { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "$") }.map { $0 + 1 } ?? 0
            if before < key.prefix.count {
                table[Int(key.prefix[before])].append((key, before))
            } else {
                for byte in UInt8.min...UInt8.max where key.alphabet.contains(byte) { table[Int(byte)].append((key, before)) }
            }
        }
        return table
    }()

    /// The keys in a run of token characters (`TokenRuns`), in ascending order.
    static func ranges(in run: Range<Int>, of text: UnsafeRawBufferPointer) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var start = run.lowerBound
        // A key may be a segment of a path.
        while start < run.upperBound {
            for (key, before) in Self.byFirst[Int(text[start])] {
                guard let range = key.range(at: start - before, in: text) else { continue }
                found.append(range)
                break
            }
            start =
                ByteScan.index(
                    of: UInt8(ascii: "/"), or: UInt8(ascii: "+"), in: UnsafeRawBufferPointer(rebasing: text[..<run.upperBound]), from: start
                ) + 1
        }
        return found + self.dottedKeys(in: run, of: text)
    }

    private func range(at start: Int, in text: UnsafeRawBufferPointer) -> Range<Int>? {
        guard start >= 0, text.count - start >= self.prefix.count + self.length.lowerBound,
            text[start..<start + self.prefix.count].elementsEqual(self.prefix),
            start == 0 || !Self.mayContinue(text[start - 1])
        else { return nil }
        var end = start + self.prefix.count
        guard Self.isRandom(text, &end, self.alphabet, self.length) else { return nil }
        for _ in 0..<self.segments {
            guard end < text.count, text[end] == UInt8(ascii: ".") else { return nil }
            end += 1
            guard Self.isRandom(text, &end, self.alphabet, 16...80) else { return nil }
        }
        return start..<end
    }

    private static func mayContinue(_ byte: UInt8) -> Bool {
        FormSpelling.isAlphanumeric(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }

    /// Whether a segment of random characters begins at an offset, which moves to its end.
    private static func isRandom(
        _ text: UnsafeRawBufferPointer, _ offset: inout Int, _ alphabet: Alphabet, _ length: ClosedRange<Int>
    ) -> Bool {
        let start = offset
        var (digits, turns) = (0, 0)
        var isCapital = false
        while offset < text.count, offset - start <= length.upperBound, alphabet.contains(text[offset]) {
            let byte = text[offset]
            if byte >= 48, byte <= 57 {
                digits += 1
            } else if FormSpelling.isAlphanumeric(byte), (byte < 97) != isCapital {
                (turns, isCapital) = (turns + 1, byte < 97)
            }
            offset += 1
        }
        guard length.contains(offset - start), offset == text.count || !Self.mayContinue(text[offset]) else { return false }
        // Names of programs have few digits, and a capital for each word.
        return digits >= 2 && digits < offset - start || turns * 4 > offset - start
    }

    /// Keys whose first segment has no prefix, or one that another run has: HCP Terraform (`X.atlasv1.Y`) and Airtable (`patX.Y`).
    private static func dottedKeys(in run: Range<Int>, of text: UnsafeRawBufferPointer) -> [Range<Int>] {
        guard run.count >= 60, run.lowerBound >= 18, text[run.lowerBound - 1] == UInt8(ascii: ".") else { return [] }
        let mark = Array(".atlasv1.".utf8)
        let first: Int
        if run.lowerBound >= 23, text[run.lowerBound - mark.count..<run.lowerBound].elementsEqual(mark) {
            first = run.lowerBound - mark.count - 14
        } else {
            first = run.lowerBound - 18
            guard text[first..<first + 3].elementsEqual("pat".utf8), run.count == 64, text[run].allSatisfy(Alphabet.hex.contains) else {
                return []
            }
        }
        guard text[first..<first + 14].allSatisfy(Alphabet.alphanumeric.contains), first == 0 || !self.mayContinue(text[first - 1]) else {
            return []
        }
        return [first..<run.upperBound]
    }
}
