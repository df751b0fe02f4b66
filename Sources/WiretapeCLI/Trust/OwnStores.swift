/// What a person does about programs that keep a trust store of their own. Nothing of it is done here.
enum OwnStores {
    static func installation(of file: String) -> [String] {
        let word = ShellWord.quoted(file)
        return [
            "# Programs with a store of their own:",
            "# Firefox: Settings > Privacy & Security > Certificates > View Certificates > Authorities > Import",
            "#   \(file)",
            "# Chrome and Chromium on Linux (certutil is in Debian's package libnss3-tools):",
            "#   certutil -A -d sql:$HOME/.pki/nssdb -n wiretape -t C,, -i \(word)",
            "# Java, for all programs of one installation:",
            "#   keytool -importcert -noprompt -cacerts -storepass changeit -alias wiretape -file \(word)",
            "# A program that is run behind \"--\" needs none of this; for others: wiretape env",
        ]
    }

    static func removal() -> [String] {
        [
            "# Programs with a store of their own:",
            "# Firefox: Settings > Privacy & Security > Certificates > View Certificates > Authorities, \"Wiretape\", Delete or Distrust",
            "# Chrome and Chromium on Linux:",
            "#   certutil -D -d sql:$HOME/.pki/nssdb -n wiretape",
            "# Java:",
            "#   keytool -delete -cacerts -storepass changeit -alias wiretape",
        ]
    }
}
