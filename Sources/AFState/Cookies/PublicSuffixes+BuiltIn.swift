import AFWire

extension PublicSuffixes {
    /// The rules that apply before a list was read, and if none is installed, as of November 2026: the usual categories
    /// below every country, and the most common domains of companies under which unrelated sites live.
    package static let builtIn = PublicSuffixes()

    static let builtInTable = builtInRules.withUTF8Bytes { PublicSuffixTable($0) }

    private static let builtInRules = """
        us.com
        uk.com
        de.com
        eu.com
        gb.net
        uk.net
        co.com
        eu.org
        *.ck
        !www.ck
        *.er
        *.fk
        *.jm
        *.kh
        *.mm
        *.np
        *.pg
        *.bd
        asso.fr
        gouv.fr
        uk.eu.org
        amazonaws.com
        *.compute.amazonaws.com
        *.elb.amazonaws.com
        s3.amazonaws.com
        cloudfront.net
        elasticbeanstalk.com
        awsapps.com
        amplifyapp.com
        on.aws
        appspot.com
        blogspot.com
        run.app
        web.app
        firebaseapp.com
        cloudfunctions.net
        translate.goog
        azurewebsites.net
        azurestaticapps.net
        cloudapp.net
        cloudapp.azure.com
        blob.core.windows.net
        trafficmanager.net
        github.io
        githubusercontent.com
        gitlab.io
        bitbucket.io
        herokuapp.com
        herokussl.com
        netlify.app
        vercel.app
        now.sh
        pages.dev
        workers.dev
        trycloudflare.com
        fly.dev
        onrender.com
        railway.app
        deno.dev
        glitch.me
        repl.co
        replit.app
        surge.sh
        ngrok.io
        ngrok.app
        ngrok-free.app
        myshopify.com
        wordpress.com
        wpengine.com
        weebly.com
        wixsite.com
        webflow.io
        readthedocs.io
        ondigitalocean.app
        digitaloceanspaces.com
        nip.io
        dyndns.org
        duckdns.org
        no-ip.org
        ddns.net
        hopto.org
        zapto.org
        """
}
